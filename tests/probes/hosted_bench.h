// A fake accelerator in a fake host, whose CPU may be measured too.
#pragma once

#include <memory>

#include "probes/fake_bench.h"

namespace assay::probes {

struct HostedBench {
    HostedBench() { cpu.script.providers = {{.name = "plain"}}; }

    FakeBench accelerator;
    device::FakeDevice cpu = device::FakeDevice(cpu_facts());
    int opened = 0;

    // Time passes while either works.
    class Clock final : public measure::Clock {
      public:
        explicit Clock(HostedBench& bench) : bench_(bench) {}
        double now() override { return bench_.accelerator.fake.now() + bench_.cpu.now(); }
        void sleep(double seconds) override { bench_.accelerator.fake.advance(seconds); }

      private:
        HostedBench& bench_;
    };
    Clock clock{*this};
    Bench bench{accelerator.device, clock, measure::boost(), 7, {}, [this] {
                    ++opened;
                    return std::make_unique<PatchedDevice>(cpu);
                }};

    static record::DeviceFacts cpu_facts() {
        auto facts = device::FakeDevice::fake_facts();
        facts.id = facts.kind = "cpu";
        facts.name = "a fake host's CPU";
        return facts;
    }

    record::Result run(const Probe& probe, const record::Case& what) {
        record::Result result;
        result.probe = probe.name();
        result.device = accelerator.fake.facts().id;
        result.what = what;
        probe.run(what, bench, result);
        result.metrics = probe.metrics(result);
        return result;
    }
};

}  // namespace assay::probes
