#include "probes/attention_dense.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "measure/tune.h"
#include "probes/paired_samples.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

constexpr double kCompareTime = 3, kCompareShare = 0.5;

std::unique_ptr<ops::PreparedAttention> prepare(ops::Attention& op, const AttentionCase& dense,
                                                const std::string& provider) {
    try {
        return op.prepare(dense.problem, dense.pass, provider);
    } catch (const Unsupported&) {
        return op.prepare(dense.problem, dense.pass);
    }
}

}  // namespace

void measure_against_dense(AttentionSetup& setup, const OpenProvider& masked,
                           const std::function<void()>& clear, Bench& bench,
                           record::Result& result) {
    auto& settings = result.conditions.settings;
    auto full = setup.attention();
    if (!(work::density(full.problem) < 1)) {
        settings["dense"] = "the mask leaves out nothing";
        return;
    }
    full.problem.mask = {};
    full.mask_words.clear();
    try {
        AttentionSetup dense(full, bench);
        // What it says of itself isn't the case's.
        record::Result unused;
        if (!dense.make_outputs({masked.name}, unused)) {
            result.checks.push_back(unused.checks.back());
            return;
        }
        const auto prepared = prepare(bench.device.need<ops::Attention>(), full, masked.name);
        result.checks.push_back(dense.answer(*prepared, "answer dense"));
        if (!result.checks.back().passed) return;
        const auto with = setup.subject("masked", *masked.prepared, clear);
        const auto without = dense.subject("dense", *prepared, clear);
        const std::vector<measure::Subject*> pair{with.get(), without.get()};
        auto compared = measure::interleave_under(
            bench.protocol, pair, bench.clock,
            std::min(kCompareTime, kCompareShare * bench.protocol.limit_s));
        throw_if_interrupted();
        auto& samples = result.launches.back().samples;
        for (auto& one : compared) samples[one.name] = {"s", std::move(one.seconds)};
        settings["dense by"] = prepared->implementation().algorithm;
    } catch (const Unsupported& error) {
        settings["dense"] = error.what();
    }
}

std::optional<record::Metric> dense_metric(const record::Result& result) {
    const auto [masked, dense] = paired_samples(result.launches, "masked", "dense");
    if (masked.empty()) return std::nullopt;
    const auto ratio = stats::ratio_of_rounds(masked, dense);
    return record::Metric{"speed-up over dense",
                          "ratio",
                          record::Better::higher,
                          "time of one call with a full mask over the time with this one, round by "
                          "round",
                          ratio.value,
                          std::pair{ratio.interval.lo, ratio.interval.hi},
                          masked.size(),
                          std::nullopt,
                          std::nullopt,
                          masked.size() >= stats::kFewestRounds};
}

}  // namespace assay::probes
