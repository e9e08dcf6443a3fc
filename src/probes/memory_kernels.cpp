#include "probes/memory_kernels.h"

#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/time.h"
#include "measure/interleave.h"
#include "measure/stream_subject.h"
#include "ops/memory.h"
#include "probes/memory_arrays.h"
#include "probes/sampled.h"
#include "stats/interval.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

constexpr const char* kKernels = "kernels";  // their names, the default first

// Verdicts between the alternatives may come early; the bandwidths want an interval of their own.
constexpr std::size_t kLeastRounds = 60;

// The medians of all rounds of all launches.
std::vector<double> rounds_of(const record::Result& result, const std::string& kernel) {
    std::vector<double> seconds;
    for (const auto& launch : result.launches) {
        const auto& values = launch.samples.at(kernel).values;
        seconds.insert(seconds.end(), values.begin(), values.end());
    }
    return seconds;
}

record::Metric bandwidth_metric(const std::string& kernel, const std::vector<double>& seconds,
                                const CountedBytes& counted) {
    const auto time = stats::estimate_median(seconds);
    const auto rate = [&](double s) { return counted.bytes / 1e9 / s; };
    return {"bandwidth of " + kernel,
            "GB/s",
            record::Better::higher,
            counted.text + " / median over rounds of the median time of one call, 1e9 per second",
            rate(time.median),
            std::pair{rate(time.interval.hi), rate(time.interval.lo)},
            time.n,
            time.effective_n,
            std::nullopt,
            time.trustworthy};
}

record::Metric gain_metric(const std::string& kernel, const std::string& standard,
                           const std::vector<double>& seconds,
                           const std::vector<double>& standard_seconds) {
    const auto ratio = stats::ratio_of_rounds(seconds, standard_seconds);
    return {"gain of " + kernel,
            "ratio",
            record::Better::higher,
            fmt::format("time of {} / time of {}, median over rounds", standard, kernel),
            ratio.value,
            std::pair{ratio.interval.lo, ratio.interval.hi},
            seconds.size(),
            std::nullopt,
            std::nullopt,
            ratio.trustworthy};
}

}  // namespace

void measure_kernels(const record::Case& what, Bench& bench, record::Result& result) {
    auto& device = bench.device;
    auto& memory = device.need<ops::Memory>();
    const auto names = memory.kernels(work::parse_memory_op(what.at("op")));
    if (names.size() < 2) {
        throw Unsupported(fmt::format("{} has one way to {}", device.facts().id, what.at("op")),
                          "leave --kernel out");
    }
    const MemoryArrays arrays(device, what);
    arrays.describe(result);
    result.conditions.settings[kKernels] = join(names, ",");

    std::vector<std::unique_ptr<ops::PreparedMemory>> kernels;
    std::vector<std::unique_ptr<measure::StreamSubject>> subjects;
    std::vector<measure::Subject*> alternatives;
    for (const auto& name : names) {
        auto request = arrays.request();
        request.kernel = name;
        auto& kernel = *kernels.emplace_back(memory.prepare(request));
        auto check = arrays.check(device, kernel, bench.seed);
        check.name = "answer of " + name;
        result.checks.push_back(std::move(check));
        if (!result.checks.back().passed) return;  // a wrong answer has no speed
        subjects.push_back(std::make_unique<measure::StreamSubject>(
            name, device, [&arrays, &kernel](device::Stream& stream, std::size_t call) {
                kernel.enqueue(stream, arrays.operands(call));
            }));
        alternatives.push_back(subjects.back().get());
    }
    describe(kernels.front()->implementation(), bench, result);

    record::Launch launch;
    launch.pid = ::getpid();
    launch.started = utc_now();
    measure::InterleaveOptions options;
    options.limit_s = bench.protocol.limit_s;
    options.min_rounds = kLeastRounds;
    const auto measured = measure::interleave(alternatives, bench.clock, options);
    if (measured.front().seconds.empty()) throw_if_interrupted();
    for (const auto& one : measured) launch.samples[one.name] = {"s", one.seconds};
    result.conditions.protocol = "interleaved";
    result.conditions.footprint_bytes = arrays.footprint_bytes();
    result.launches.push_back(std::move(launch));
    for (std::size_t i = 0; i < names.size(); ++i) {
        result.checks.push_back(arrays.check_again(device, *kernels[i], bench.seed,
                                                   "answer of " + names[i] + " after load"));
    }
}

std::vector<record::Metric> kernel_metrics(const record::Result& result) {
    if (result.launches.empty()) return {};
    const auto counted = counted_bytes(result);
    const auto names = split(result.conditions.settings.at(kKernels), ',');
    const auto standard = rounds_of(result, names.front());
    if (standard.empty()) return {};
    std::vector<record::Metric> metrics;
    for (const auto& name : names) {
        metrics.push_back(bandwidth_metric(name, rounds_of(result, name), counted));
    }
    for (std::size_t i = 1; i < names.size(); ++i) {
        metrics.push_back(
            gain_metric(names[i], names.front(), rounds_of(result, names[i]), standard));
    }
    return metrics;
}

}  // namespace assay::probes
