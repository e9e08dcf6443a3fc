#include "probes/attention_cpu.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "measure/interleave.h"
#include "probes/cache_clearer.h"
#include "probes/paired_samples.h"
#include "probes/sampled.h"
#include "stats/interval.h"
#include "stats/ratio.h"
#include "work/attention_tiles.h"

namespace assay::probes {

namespace {

constexpr const char* kAccelerator = "accelerator";
constexpr const char* kCpu = "cpu";

constexpr double kCompareTime = 3, kCompareShare = 0.5;
// Calls that must fit, or there is nothing to compare: finding out how many make a sample, warming
// up, and a round.
constexpr double kFewestCalls = 3;
// A round's time of each: an accelerator that rested wakes up in less, and the median of what
// follows is its speed.
constexpr double kRound = 0.02;
// A trial is large enough for all cores, and small for the slowest.
constexpr std::int64_t kLongestTrial = 512, kShortestTrial = 16;
constexpr double kTrialFlop = 1e9;

// A corner of the problem, every pair of it seen.
AttentionCase trial_of(const AttentionCase& attention) {
    auto trial = attention;
    auto& p = trial.problem;
    p.batch = 1;
    p.query_lengths.clear();
    p.key_lengths.clear();
    p.mask = {};
    trial.mask_words.clear();
    trial.cache = CacheState::hot;
    for (auto length = kLongestTrial;; length /= 2) {
        p.queries = std::min(attention.problem.queries, length);
        p.keys = std::min(attention.problem.keys, length);
        if (length == kShortestTrial || work::flop(p, trial.pass) <= kTrialFlop) break;
    }
    work::lay_out(p, trial.layout);
    return trial;
}

struct Expected {
    double call = 0;     // of the case's pass
    double forward = 0;  // of the forward pass that a backward one needs before it, on each set
};

// What the problem will take, by a trial of a small one. Shorter sequences keep fewer cores busy:
// it rather expects too much.
Expected expected_seconds(const AttentionCase& attention, Bench& cpu) {
    const auto trial = trial_of(attention);
    auto& op = cpu.device.need<ops::Attention>();
    const RotatingAttention operands(cpu.device, trial, cpu.seed);
    const auto expect = [&](work::AttentionPass pass) {
        const auto prepared = op.prepare(trial.problem, pass);
        record::Result unused;
        describe(prepared->implementation(), cpu, unused);
        const auto subject = rotating_subject("trial", cpu.device, *prepared, operands);
        std::array<double, 4> seconds{};  // the first wakes the cores
        subject->run(seconds, 1);
        const double rate =
            work::flop(trial.problem, pass) / *std::min_element(seconds.begin() + 1, seconds.end());
        return work::tile_flop(attention.problem, pass) / rate;
    };
    Expected expected;
    if (trial.pass == work::AttentionPass::backward) {
        expected.forward = expect(work::AttentionPass::forward);
    }
    expected.call = expect(trial.pass);
    return expected;
}

// Throws Unsupported where calls of so many seconds leave nothing to compare.
void require_time(double seconds, double limit_s, const char* how) {
    if (!(kFewestCalls * seconds > limit_s)) return;
    throw Unsupported(
        fmt::format("a call on this host's CPU {} {}, and there are {} for at least "
                    "{} calls",
                    how, format_seconds(seconds), format_seconds(limit_s), kFewestCalls));
}

// The same, with a forward pass on each of `sets` before.
void require_time_of_all(const Expected& expected, int sets, double limit_s) {
    const double forward = sets * expected.forward;
    if (!(forward + kFewestCalls * expected.call > limit_s)) return;
    throw Unsupported(fmt::format(
        "on this host's CPU the forward pass on {} sets of tensors is expected to take {}, and "
        "each of at least {} calls {}: there are {} for all",
        sets, format_seconds(forward), kFewestCalls, format_seconds(expected.call),
        format_seconds(limit_s)));
}

std::unique_ptr<device::Device> open_cpu(const Bench& bench) {
    if (!bench.open_host_cpu) throw Unsupported("no other device than this host's CPU");
    try {
        return bench.open_host_cpu();
    } catch (const UsageError& error) {  // its module isn't there
        throw Unsupported(error.what());
    }
}

void measure(AttentionSetup& setup, const OpenProvider& chosen, const std::function<void()>& clear,
             Bench& bench, record::Result& result) {
    const auto device = open_cpu(bench);
    Bench cpu{*device, bench.clock, bench.protocol, bench.seed, bench.about_to_run};
    auto& settings = result.conditions.settings;
    const double limit_s = std::min(kCompareTime, kCompareShare * bench.protocol.limit_s);
    const auto& attention = setup.attention();
    const auto expected = expected_seconds(attention, cpu);
    require_time(expected.call, limit_s, "is expected to take");

    AttentionSetup on_cpu(attention, cpu);
    require_time_of_all(expected, on_cpu.operands().sets(), limit_s);
    record::Result unused;  // what it says of itself isn't the case's
    if (!on_cpu.make_outputs({}, unused)) {
        result.checks.push_back(unused.checks.back());
        result.checks.back().name += " cpu";
        return;
    }
    const auto prepared = device->need<ops::Attention>().prepare(attention.problem, attention.pass);
    describe(prepared->implementation(), cpu, unused);
    result.checks.push_back(on_cpu.answer(*prepared, "answer cpu"));
    if (!result.checks.back().passed) return;
    settings["cpu"] = device->facts().name;
    settings["cpu by"] = prepared->implementation().algorithm;

    const auto host = on_cpu.subject(kCpu, *prepared, clearing(cpu, unused));
    std::array<double, 1> seconds{};
    host->run(seconds, 1);
    require_time(seconds.front(), limit_s, "takes");
    const auto accelerator = setup.subject(kAccelerator, *chosen.prepared, clear);
    const std::array<measure::Subject*, 2> both{accelerator.get(), host.get()};
    measure::InterleaveOptions options;
    options.round_s = kRound;
    options.limit_s = limit_s;
    options.clear_between = bench.protocol.clear_between;
    auto compared = measure::interleave(both, bench.clock, options);
    throw_if_interrupted();
    auto& samples = result.launches.back().samples;
    for (auto& one : compared) samples[one.name] = {"s", std::move(one.seconds)};
}

}  // namespace

void measure_against_cpu(AttentionSetup& setup, const OpenProvider& chosen,
                         const std::function<void()>& clear, Bench& bench, record::Result& result) {
    try {
        measure(setup, chosen, clear, bench, result);
    } catch (const Unsupported& error) {
        result.conditions.settings["against cpu"] = error.what();
    }
}

std::vector<record::Metric> cpu_metrics(const record::Result& result) {
    const auto [accelerator, cpu] = paired_samples(result.launches, kAccelerator, kCpu);
    if (cpu.empty()) return {};
    const auto attention = attention_from_case(result.what);
    const double tflop = work::flop(attention.problem, attention.pass) / 1e12;
    const auto ratio = stats::ratio_of_rounds(accelerator, cpu);
    const auto time = stats::estimate_median(cpu);
    const bool enough = cpu.size() >= stats::kFewestRounds;
    return {{"speed-up over this host's CPU", "ratio", record::Better::higher,
             "time of one call on this host's CPU over the time on the accelerator, round by round",
             ratio.value, std::pair{ratio.interval.lo, ratio.interval.hi}, time.n, std::nullopt,
             std::nullopt, enough},
            {"throughput of this host's CPU", "TFLOP/s", record::Better::higher,
             "useful FLOP / median over rounds of the time of one call on this host's CPU",
             tflop / time.median, std::pair{tflop / time.interval.hi, tflop / time.interval.lo},
             time.n, time.effective_n, std::nullopt, enough}};
}

}  // namespace assay::probes
