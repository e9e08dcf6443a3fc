// A bench on the fake device: its parts can be replaced, and a product's time scripted by what is
// multiplied.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ops/matmul.h"
#include "probes/probe.h"
#include "support/device_clock.h"
#include "support/fake_device.h"

namespace assay::probes {

// The fake device with some facilities replaced.
class PatchedDevice final : public device::Device {
  public:
    explicit PatchedDevice(device::FakeDevice& fake) : fake_(fake) {}
    std::map<std::string, device::Facility*, std::less<>> patches;
    std::function<void(std::size_t bytes, int node)> on_allocate;

    const record::DeviceFacts& facts() const override { return fake_.facts(); }
    device::MemoryState memory() const override { return fake_.memory(); }
    std::unique_ptr<device::Buffer> allocate(std::size_t bytes, int node) override {
        if (on_allocate) on_allocate(bytes, node);
        return fake_.allocate(bytes, node);
    }
    std::unique_ptr<device::Stream> create_stream() override { return fake_.create_stream(); }
    std::unique_ptr<device::Event> create_event() override { return fake_.create_event(); }
    device::Telemetry& telemetry() override { return fake_.telemetry(); }
    void copy_in(void* to, const void* from_host, std::size_t bytes) override {
        fake_.copy_in(to, from_host, bytes);
    }
    void copy_out(void* to_host, const void* from, std::size_t bytes) override {
        fake_.copy_out(to_host, from, bytes);
    }
    device::Facility* facility(std::string_view name) override {
        const auto patch = patches.find(name);
        return patch == patches.end() ? fake_.facility(name) : patch->second;
    }

  private:
    device::FakeDevice& fake_;
};

// The fake device's products, each call taking the seconds that `time` says.
class TimedMatmul final : public ops::Matmul {
  public:
    using Time = std::function<double(const work::Matmul&, const ops::MatmulOperands&)>;
    TimedMatmul(device::FakeDevice& fake, Time time) : fake_(fake), time_(std::move(time)) {}

    std::unique_ptr<ops::PreparedMatmul> prepare(const work::Matmul& problem,
                                                 const ops::MatmulChoice& /*choice*/) override {
        return std::make_unique<Prepared>(*this, problem);
    }

  private:
    class Prepared final : public ops::PreparedMatmul {
      public:
        Prepared(TimedMatmul& owner, const work::Matmul& problem)
            : owner_(owner),
              problem_(problem),
              plain_(owner.fake_.need<ops::Matmul>().prepare(problem)) {}
        const ops::Implementation& implementation() const override {
            return plain_->implementation();
        }
        void enqueue(device::Stream& stream, const ops::MatmulOperands& operands) override {
            const double seconds = owner_.time_(problem_, operands);
            owner_.fake_.script.seconds = [seconds](std::size_t, double) { return seconds; };
            plain_->enqueue(stream, operands);
        }

      private:
        TimedMatmul& owner_;
        work::Matmul problem_;
        std::unique_ptr<ops::PreparedMatmul> plain_;
    };

    device::FakeDevice& fake_;
    Time time_;
};

struct FakeBench {
    explicit FakeBench(record::DeviceFacts facts = device::FakeDevice::fake_facts())
        : fake(std::move(facts)) {}

    device::FakeDevice fake;
    device::DeviceClock clock{fake};
    PatchedDevice device{fake};
    Bench bench{device, clock, measure::boost(), 7};

    // A result as the suite has it before its launches are pooled.
    record::Result run(const Probe& probe, const record::Case& what) {
        record::Result result;
        result.probe = probe.name();
        result.what = what;
        probe.run(what, bench, result);
        return result;
    }
};

inline const record::Check* find_check(const record::Result& result, std::string_view name) {
    for (const auto& check : result.checks) {
        if (check.name == name) return &check;
    }
    return nullptr;
}

inline const record::Metric* find_metric(const std::vector<record::Metric>& metrics,
                                         std::string_view name) {
    for (const auto& metric : metrics) {
        if (metric.name == name) return &metric;
    }
    return nullptr;
}

inline Options options_of(const Probe& probe,
                          const std::map<std::string, std::string>& values = {}) {
    Options options(probe.options());
    for (const auto& [name, value] : values) options.set(name, value);
    return options;
}

// The function's UsageError or Unsupported, as its line of text; "" when it throws none.
template <class Thrown>
std::string message_of(const std::function<void()>& function) {
    try {
        function();
    } catch (const Thrown& error) {
        return error.what();
    }
    return "";
}

}  // namespace assay::probes
