#include "probes/attention_setup.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "probes/sampled.h"
#include "stats/interval.h"
#include "stats/quantile.h"
#include "stats/ratio.h"

namespace assay::probes {

AttentionSetup::AttentionSetup(const AttentionCase& attention, Bench& bench,
                               const work::Attention* inner, double effort)
    : attention_(attention),
      bench_(bench),
      operands_(bench.device, attention, bench.seed, inner),
      checker_(attention, bench.seed, inner, effort) {}

AttentionSetup::AttentionSetup(const AttentionCase& attention, Bench& bench,
                               const SharedAttention& shared, double effort)
    : attention_(attention),
      bench_(bench),
      operands_(bench.device, attention, shared),
      checker_(attention, bench.seed, nullptr, effort) {}

bool AttentionSetup::make_outputs(const std::vector<std::string>& providers,
                                  record::Result& result) {
    if (attention_.pass == work::AttentionPass::forward) return true;
    constexpr auto kForward = work::AttentionPass::forward;
    auto& op = bench_.device.need<ops::Attention>();
    std::unique_ptr<ops::PreparedAttention> prepared;
    for (const auto& name : providers) {
        try {
            prepared = op.prepare(attention_.problem, kForward, name);
            break;
        } catch (const Unsupported&) {
            continue;  // the device's own choice says why, if it is none either
        }
    }
    if (!prepared) prepared = op.prepare(attention_.problem, kForward);
    const auto& made_by = prepared->implementation();
    describe(made_by, bench_, result);
    result.conditions.settings["forward by"] = made_by.library + " " + made_by.algorithm;
    run_on_every_set(bench_.device, *prepared, operands_);
    auto check = checker_.check(bench_.device, operands_.set(0), kForward);
    check.name = "forward answer";
    result.checks.push_back(std::move(check));
    return result.checks.back().passed;
}

record::Check AttentionSetup::answer(ops::PreparedAttention& prepared, std::string name) {
    poison();
    const auto stream = bench_.device.create_stream();
    prepared.enqueue(*stream, operands_.set(0));
    stream->synchronize();
    return answer_as_it_is(std::move(name));
}

record::Check AttentionSetup::answer_as_it_is(std::string name) {
    auto check = checker_.check(bench_.device, operands_.set(0), attention_.pass);
    check.name = std::move(name);
    return check;
}

void AttentionSetup::poison() {
    checker_.poison(bench_.device, operands_.set(0), attention_.pass);
}

std::unique_ptr<measure::StreamSubject> AttentionSetup::subject(std::string name,
                                                                ops::PreparedAttention& prepared,
                                                                std::function<void()> clear) {
    return rotating_subject(std::move(name), bench_.device, prepared, operands_, std::move(clear));
}

std::vector<std::string> providers_of(const AttentionCase& attention, ops::Attention& op,
                                      const device::Device& device) {
    auto names = op.providers();
    if (attention.provider == kAutoProvider || attention.provider == kAllProviders) return names;
    if (std::ranges::find(names, attention.provider) == names.end()) {
        throw Unsupported("device " + device.facts().id + " has no attention provider \"" +
                              attention.provider + "\"",
                          "it has " + join(names, ", "));
    }
    return {attention.provider};
}

std::vector<OpenProvider> open_providers(AttentionSetup& setup,
                                         const std::vector<std::string>& names, Bench& bench,
                                         record::Result& result) {
    auto& op = bench.device.need<ops::Attention>();
    auto& settings = result.conditions.settings;
    const auto& attention = setup.attention();
    std::vector<OpenProvider> open;
    std::vector<std::string> refused, wrong;
    std::vector<record::Check> failed;
    for (const auto& name : names) {
        OpenProvider provider{name, nullptr};
        try {
            provider.prepared = op.prepare(attention.problem, attention.pass, name);
        } catch (const Unsupported& error) {
            refused.push_back(name + ": " + error.what());
            continue;
        }
        describe(provider.prepared->implementation(), bench, result);
        auto check = setup.answer(*provider.prepared, "answer " + name);
        if (check.passed) {
            result.checks.push_back(std::move(check));
            open.push_back(std::move(provider));
        } else {
            wrong.push_back(name + ": " + check.detail);
            failed.push_back(std::move(check));
        }
    }
    if (!refused.empty()) settings["left out"] = join(refused, "; ");
    if (!open.empty()) {
        if (!wrong.empty()) settings["wrong algorithms"] = join(wrong, "; ");
        return open;
    }
    if (failed.empty()) throw Unsupported("no provider takes it: " + join(refused, "; "));
    std::ranges::move(failed, std::back_inserter(result.checks));
    return open;
}

std::map<std::string, std::vector<double>> alternatives_of(
    const std::vector<record::Launch>& launches, std::string_view prefix) {
    std::map<std::string, std::vector<double>> rounds;
    std::size_t all = 0;
    for (const auto& launch : launches) {
        std::size_t longest = 0;
        for (const auto& [name, samples] : launch.samples) {
            if (!name.starts_with(prefix)) continue;
            auto& seconds = rounds[name.substr(prefix.size())];
            seconds.insert(seconds.end(), samples.values.begin(), samples.values.end());
            longest = std::max(longest, samples.values.size());
        }
        all += longest;
    }
    std::erase_if(rounds, [&](const auto& one) { return one.second.size() != all; });
    return rounds;
}

std::vector<record::Metric> ratio_metrics(
    const std::map<std::string, std::vector<double>>& alternatives) {
    std::vector<record::Metric> metrics;
    if (alternatives.empty()) return metrics;
    const auto best = std::ranges::min_element(
        alternatives, {}, [](const auto& one) { return stats::median(one.second); });
    for (const auto& [name, seconds] : alternatives) {
        const auto ratio = stats::ratio_of_rounds(best->second, seconds);
        const auto time = stats::estimate_median(seconds);
        metrics.push_back({"time ratio of " + name, "ratio", record::Better::lower,
                           "its time over that of the fastest provider, round by round",
                           ratio.value, std::pair{ratio.interval.lo, ratio.interval.hi}, time.n,
                           time.effective_n, std::nullopt, seconds.size() >= stats::kFewestRounds});
    }
    return metrics;
}

}  // namespace assay::probes
