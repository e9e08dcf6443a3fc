#include "probes/attention_providers.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/time.h"
#include "measure/interleave.h"
#include "measure/runner.h"
#include "measure/settle.h"
#include "measure/tune.h"
#include "probes/kept_winners.h"
#include "probes/sampled.h"
#include "stats/interval.h"
#include "stats/quantile.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

constexpr double kCompareTime = 2, kCompareShare = 1.0 / 3;
constexpr double kLongestSettling = 6;
constexpr std::size_t kRounds = 40;  // of all providers, at least, where the limit allows

// A provider may be chosen anew when any of those it was chosen among has changed.
measure::WinnerKey key_of(const AttentionCase& attention, const std::vector<OpenProvider>& open,
                          const Bench& bench) {
    std::vector<std::string> libraries;
    for (const auto& [name, prepared] : open) {
        const auto& library = prepared->implementation();
        libraries.push_back(fmt::format("{} {} {} {}", name, library.library,
                                        library.library_version, library.library_file));
    }
    return {bench.device.facts().name, join(libraries, "; "),
            "attention " + to_case(attention).text(), bench.protocol.name};
}

struct Subjects {
    std::vector<std::unique_ptr<measure::StreamSubject>> owned;
    std::vector<measure::Subject*> all;
};

Subjects subjects_of(AttentionSetup& setup, const std::vector<OpenProvider>& open,
                     const std::function<void()>& clear) {
    Subjects subjects;
    for (const auto& [name, prepared] : open) {
        subjects.owned.push_back(setup.subject(name, *prepared, clear));
        subjects.all.push_back(subjects.owned.back().get());
    }
    return subjects;
}

// What is interleaved needn't wait for the last percent of a steady rate.
void settle(measure::Subject& subject, Bench& bench) {
    if (!bench.protocol.settle) return;
    auto protocol = bench.protocol;
    protocol.settle_limit_s = std::min(protocol.settle_limit_s, kLongestSettling);
    measure::Runner runner(subject, bench.clock, protocol.clear_between);
    measure::settle(runner, bench.clock, protocol);
    throw_if_interrupted();
}

}  // namespace

ProviderChoice choose_provider(AttentionSetup& setup, const std::vector<OpenProvider>& open,
                               bool anew, const std::function<void()>& clear, Bench& bench,
                               record::Result& result) {
    ProviderChoice choice;
    auto& settings = result.conditions.settings;
    if (open.size() > 1) {
        const auto key = key_of(setup.attention(), open, bench);
        auto winners = open_winners(result);
        const auto known = winners && !anew ? winners->find(key) : std::nullopt;
        const auto found = std::ranges::find(open, known.value_or(""), &OpenProvider::name);
        settings["cache"] = found == open.end() ? "miss" : "hit";
        if (found != open.end()) {
            choice.index = static_cast<std::size_t>(found - open.begin());
        } else {
            auto subjects = subjects_of(setup, open, clear);
            settle(*subjects.all.front(), bench);
            auto compared = measure::interleave_under(
                bench.protocol, subjects.all, bench.clock,
                std::min(kCompareTime, kCompareShare * bench.protocol.limit_s));
            throw_if_interrupted();
            const auto best = std::ranges::min_element(
                compared, {}, [](const auto& one) { return stats::median(one.seconds); });
            choice.index = static_cast<std::size_t>(best - compared.begin());
            const bool sure = best->seconds.size() >= stats::kFewestRounds;
            for (auto& one : compared) {
                choice.samples[std::string(kProviderSamples) + one.name] = {"s",
                                                                            std::move(one.seconds)};
            }
            if (winners && sure) keep_winner(*winners, key, open[choice.index].name, result);
        }
        if (winners && !winners->note().empty()) settings["winners file"] = winners->note();
    }
    settings["provider"] = open[choice.index].name;
    return choice;
}

void measure_providers(const AttentionCase& attention, Bench& bench, record::Result& result) {
    auto& op = bench.device.need<ops::Attention>();
    const auto names = providers_of(attention, op, bench.device);
    AttentionSetup setup(attention, bench);
    auto& settings = result.conditions.settings;
    if (!setup.operands().note().empty()) settings["cold"] = setup.operands().note();
    if (!setup.make_outputs(names, result)) return;
    const auto open = open_providers(setup, names, bench, result);
    if (open.empty()) return;
    for (const auto& [name, prepared] : open) {
        const auto& implementation = prepared->implementation();
        settings["provider " + name] = implementation.library + " " + implementation.algorithm;
    }
    settings.erase("note");
    describe(open.front().prepared->implementation(), bench, result);

    record::Launch launch;
    launch.pid = ::getpid();
    launch.started = utc_now();
    auto subjects = subjects_of(setup, open, {});
    measure::InterleaveOptions options;
    options.limit_s = bench.protocol.limit_s;
    // Verdicts there are against the first provider; the fastest may be any.
    options.min_rounds = kRounds;
    for (auto& one : measure::interleave(subjects.all, bench.clock, options)) {
        if (one.seconds.empty()) throw_if_interrupted();
        launch.samples[std::string(kProviderSamples) + one.name] = {"s", std::move(one.seconds)};
    }
    result.conditions.protocol = "interleaved";
    result.conditions.footprint_bytes = setup.operands().footprint_bytes();
    result.conditions.operand_sets = setup.operands().sets();
    result.launches.push_back(std::move(launch));
    for (const auto& [name, prepared] : open) {
        result.checks.push_back(setup.answer(*prepared, "answer after load " + name));
    }
}

std::vector<record::Metric> provider_metrics(const record::Result& result) {
    const auto attention = attention_from_case(result.what);
    const double tflop = work::flop(attention.problem, attention.pass) / 1e12;
    const auto alternatives = alternatives_of(result.launches, kProviderSamples);
    std::vector<record::Metric> metrics;
    for (const auto& [name, seconds] : alternatives) {
        const auto time = stats::estimate_median(seconds);
        metrics.push_back({"throughput of " + name, "TFLOP/s", record::Better::higher,
                           "useful FLOP / median over rounds of the time of one call",
                           tflop / time.median,
                           std::pair{tflop / time.interval.hi, tflop / time.interval.lo}, time.n,
                           time.effective_n, std::nullopt, seconds.size() >= stats::kFewestRounds});
    }
    std::ranges::move(ratio_metrics(alternatives), std::back_inserter(metrics));
    return metrics;
}

}  // namespace assay::probes
