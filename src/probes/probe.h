// A probe is one rung of the ladder: it turns options into cases, and a case into a result.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "measure/clock.h"
#include "measure/protocol.h"
#include "ops/operation.h"
#include "probes/options.h"
#include "record/result.h"

namespace assay::probes {

// What a probe works with, in the child.
struct Bench {
    device::Device& device;
    measure::Clock& clock;
    measure::Protocol protocol;
    std::uint64_t seed = 0;
    // Told what is about to run, so that a crash or a hang can be put down to it; may be empty.
    std::function<void(const ops::Implementation&)> about_to_run = {};
    // Opens this host's CPU as a second device; empty where `device` is that already.
    std::function<std::unique_ptr<device::Device>()> open_host_cpu = {};
};

class Probe {
  public:
    virtual ~Probe() = default;

    virtual std::string name() const = 0;
    virtual std::string summary() const = 0;                // one line
    virtual std::vector<std::string> examples() const = 0;  // command lines
    virtual std::vector<OptionSpec> options() const = 0;

    // Cases in the order they should run. Throws UsageError for options without a meaning. What
    // doesn't fit the device is found out by run().
    virtual std::vector<record::Case> expand(const Options& options,
                                             const record::DeviceFacts& facts) const = 0;

    // True where the case says itself how it is measured, so that protocols don't apply: it is run
    // once, whatever protocols are asked for.
    virtual bool has_own_method(const record::Case& /*what*/) const { return false; }

    // Measures one case: fills path, conditions, one launch, checks and series. Throws Unsupported
    // for what the device can't do (the case is skipped), DeviceLost, or Error.
    virtual void run(const record::Case& what, Bench& bench, record::Result& result) const = 0;

    // The metrics of a result from its launches: pure, so that launches of several processes can
    // be pooled.
    virtual std::vector<record::Metric> metrics(const record::Result& result) const = 0;
};

// Every probe, in the order of the ladder. A new probe is one file and one line in registry.cpp.
std::span<const Probe* const> all_probes();
// Throws UsageError for an unknown name, with the nearest.
const Probe& find_probe(std::string_view name);

}  // namespace assay::probes
