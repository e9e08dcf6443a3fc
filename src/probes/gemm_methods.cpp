#include "probes/gemm_methods.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/range.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/summary.h"
#include "probes/cache_clearer.h"
#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"
#include "probes/sampled.h"
#include "stats/interval.h"
#include "stats/quantile.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

constexpr std::array kMethods{
    TimingMethod{.name = "mamf-old",
                 .source =
                     "ml-engineering mamf-finder.py before version 3: 50 calls to warm up, 100 "
                     "timed, cache cleared between, normal inputs, the best one headlined",
                 .warmup_calls = 50,
                 .calls = 100,
                 .clear_caches = true,
                 .reduction = Reduction::best},
    TimingMethod{.name = "do_bench",
                 .source = "triton.testing.do_bench of Triton 3: 25 ms to warm up, 100 ms timed, "
                           "256 MiB cleared before each call, mean",
                 .warmup_s = 0.025,
                 .timed_s = 0.1,
                 .clear_caches = true},
    TimingMethod{.name = "superbench",
                 .source = "SuperBench cublaslt_gemm: constant operands, 20 calls to warm up, 50 "
                           "timed, nothing cleared, mean",
                 .warmup_calls = 20,
                 .calls = 50,
                 .inputs = work::Distribution::ones},
    TimingMethod{.name = "hipblaslt",
                 .source =
                     "hipblaslt-bench defaults: random integers, 2 calls to warm up, 10 timed, "
                     "nothing cleared, mean",
                 .warmup_calls = 2,
                 .calls = 10,
                 .inputs = work::Distribution::ints},
    TimingMethod{.name = "best-of",
                 .source = "the best of 100 calls after 10 to warm up, nothing cleared: a common "
                           "home-made loop",
                 .warmup_calls = 10,
                 .calls = 100,
                 .reduction = Reduction::best},
};

constexpr std::size_t kWindow = 10;  // honest samples in a window
constexpr std::size_t kMinRounds = 3;
constexpr std::size_t kMaxRounds = 25;
// The methods' numbers of calls are given, so a long call can't be told to take less.
constexpr double kLongestRounds_s = 120;

struct CallCount {
    std::size_t warmup, timed;
};

// Host seconds of one call, and of one with the clearing before it.
struct Pace {
    double call_s, cleared_s;

    double of(const TimingMethod& method) const { return method.clear_caches ? cleared_s : call_s; }
};

// Where a method is given seconds, it takes as many calls as fit: do_bench estimates that with the
// clearing included.
CallCount call_count(const TimingMethod& method, const Pace& pace) {
    const auto count = [&](int calls, double seconds) {
        if (calls > 0) return static_cast<std::size_t>(calls);
        return std::max<std::size_t>(1, static_cast<std::size_t>(seconds / pace.of(method)));
    };
    return {count(method.warmup_calls, method.warmup_s), count(method.calls, method.timed_s)};
}

void require_affordable(const std::vector<const TimingMethod*>& methods, const Pace& pace) {
    double seconds = 0;
    for (const auto* method : methods) {
        const auto count = call_count(*method, pace);
        seconds += kMinRounds * (static_cast<double>(count.warmup) * pace.call_s +
                                 static_cast<double>(count.timed) * pace.of(*method));
    }
    if (seconds <= kLongestRounds_s) return;
    throw Unsupported(fmt::format("{} rounds of these methods take {} at {} a call", kMinRounds,
                                  format_seconds(seconds), format_seconds(pace.call_s)),
                      "choose a smaller shape or fewer methods");
}

// Seconds of one call, as the method would report them.
double time_as(const TimingMethod& method, measure::Subject& subject, const Pace& pace) {
    const auto count = call_count(method, pace);
    std::vector<double> times(count.warmup);
    subject.run(times, 1);
    times.assign(count.timed, 0);
    if (method.clear_caches) {
        for (auto& time : times) {
            subject.clear_caches();
            subject.run({&time, 1}, 1);
        }
    } else {
        subject.run(times, 1);
    }
    if (method.reduction == Reduction::best) return *std::ranges::min_element(times);
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

// One set of operands as a method fills them.
std::unique_ptr<RotatingOperands> operands_of(const TimingMethod& method, MatmulCase matmul,
                                              Bench& bench) {
    matmul.inputs = method.inputs;
    matmul.cache = CacheState::hot;
    return std::make_unique<RotatingOperands>(bench.device, matmul, bench.seed);
}

// The second call of each kind: the first may open a library.
Pace pace_of(measure::Subject& subject, CacheClearer& clear, bool clears, measure::Clock& clock) {
    Pace pace{};
    double seconds = 0;
    for (int i = 0; i < 2; ++i) {
        const double start = clock.now();
        if (clears) clear();
        const double cleared = clock.now();
        subject.run({&seconds, 1}, 1);
        const double end = clock.now();
        pace = {end - cleared, end - start};
    }
    return pace;
}

}  // namespace

std::span<const TimingMethod> timing_methods() {
    return kMethods;
}

std::vector<const TimingMethod*> parse_methods(std::string_view list) {
    std::vector<std::string> known;
    for (const auto& method : kMethods) known.emplace_back(method.name);
    std::vector<const TimingMethod*> methods;
    for (const auto& word : parse_words(list, "--as")) {
        const auto found = std::ranges::find(kMethods, word, &TimingMethod::name);
        if (found == kMethods.end()) throw_unknown("method", word, known);
        methods.push_back(&*found);
    }
    return methods;
}

void measure_methods(const MatmulCase& asked, const std::vector<const TimingMethod*>& methods,
                     Bench& bench, record::Result& result) {
    auto matmul = asked;
    matmul.cache = CacheState::cold;  // what the methods' errors are told against
    auto prepared = bench.device.need<ops::Matmul>().prepare(matmul.problem);
    describe(prepared->implementation(), bench, result);
    const RotatingOperands honest_operands(bench.device, matmul, bench.seed);
    const auto stream = bench.device.create_stream();
    prepared->enqueue(*stream, honest_operands.set(0));
    stream->synchronize();
    result.checks.push_back(check_matmul(bench.device, matmul, honest_operands.set(0), bench.seed));
    if (!result.checks.back().passed) return;

    const auto honest = rotating_subject("honest", bench.device, *prepared, honest_operands);
    CacheClearer clear(bench.device);
    if (auto why = clear.shortfall(); !why.empty()) {
        result.conditions.settings["cleared"] = std::move(why);
    }
    const bool clears = std::ranges::any_of(methods, &TimingMethod::clear_caches);
    const auto pace = pace_of(*honest, clear, clears, bench.clock);
    require_affordable(methods, pace);

    Bench sustained = bench;
    sustained.protocol = measure::sustained();
    sustained.protocol.limit_s = bench.protocol.limit_s / 2;
    sample_into(*honest, sustained, honest_operands.footprint_bytes(), honest_operands.sets(),
                result);
    auto& samples = result.launches.back().samples;
    struct Alternative {
        const TimingMethod* method;
        std::unique_ptr<RotatingOperands> operands;
        std::unique_ptr<measure::StreamSubject> subject;
    };
    std::vector<Alternative> alternatives;
    for (const auto* method : methods) {
        auto operands = operands_of(*method, matmul, bench);
        auto subject = rotating_subject(std::string(method->name), bench.device, *prepared,
                                        *operands, [&clear] { clear(); });
        alternatives.push_back({method, std::move(operands), std::move(subject)});
        samples[std::string(method->name)].unit = "s";
        result.conditions.settings["as " + std::string(method->name)] = method->source;
    }
    samples["window"].unit = "s";
    const double until = bench.clock.now() + bench.protocol.limit_s / 2;
    for (std::size_t round = 0; round < kMaxRounds && !interrupted(); ++round) {
        if (round >= kMinRounds && bench.clock.now() > until) break;
        std::vector<double> window(kWindow);
        honest->run(window, 1);
        samples["window"].values.push_back(stats::median(window));
        for (auto& alternative : alternatives) {
            samples[std::string(alternative.method->name)].values.push_back(
                time_as(*alternative.method, *alternative.subject, pace));
        }
    }
}

std::vector<record::Metric> method_metrics(const record::Result& result) {
    const double tflop = work::flop(matmul_from_case(result.what).problem) / 1e12;
    std::vector<record::Metric> metrics{measure::rate_metric(
        "throughput", "TFLOP/s", "2 M N K batch / median time of one call, sustained", tflop,
        result.launches)};
    for (const auto* method : parse_methods(result.what.at("as"))) {
        std::vector<double> rates;
        std::vector<double> errors;
        for (const auto& launch : result.launches) {
            const auto& times = launch.samples.at(std::string(method->name)).values;
            const auto& windows = launch.samples.at("window").values;
            for (std::size_t i = 0; i < times.size(); ++i) {
                rates.push_back(tflop / times[i]);
                errors.push_back((windows[i] / times[i] - 1) * 100);
            }
        }
        if (errors.empty()) continue;  // a wrong answer, or an interruption before the first round
        const auto metric = [&](std::string name, std::string unit, std::string definition,
                                const std::vector<double>& values) {
            const auto estimate = stats::estimate_median(values);
            metrics.push_back(
                {std::move(name), std::move(unit), record::Better::neither, std::move(definition),
                 estimate.median, std::pair{estimate.interval.lo, estimate.interval.hi}, estimate.n,
                 estimate.effective_n, std::nullopt, estimate.n >= stats::kFewestRounds});
        };
        metric(fmt::format("throughput as {}", method->name), "TFLOP/s",
               std::string(method->source), rates);
        metric(fmt::format("error of {}", method->name), "%",
               "its rate over the honest sustained median of the same round, less 1", errors);
    }
    return metrics;
}

}  // namespace assay::probes
