#include "plan/break_even.h"

#include <algorithm>
#include <set>

namespace assay::plan {

namespace {

// The length at which all devices give `wanted` tokens/s: only a turn's decode depends on it. None
// where no length does.
std::optional<double> acceptance_for(const Prediction& prediction, double wanted) {
    const auto& load = prediction.load;
    const auto output = static_cast<double>(load.output);
    const double decode = prediction.tpot_s.value * std::max(output - 1, 1.0) /
                          (output * static_cast<double>(load.batch));
    const double prefill = 1 / prediction.output_per_s.value - decode;
    const double left = 1 / wanted - prefill;
    if (!(left > 0)) return std::nullopt;
    const double length = load.speculation->acceptance * decode / left;
    if (length < 1 || length > load.speculation->drafts + 1) return std::nullopt;
    return length;
}

}  // namespace

Yield yield_of(const std::vector<Candidate>& candidates) {
    const bool priced = std::ranges::all_of(
        candidates, [](const Candidate& candidate) { return candidate.per_hour.has_value(); });
    return priced ? Yield::per_dollar : Yield::per_device;
}

double yield(const Prediction& prediction, const Candidate& candidate, Yield by) {
    const double per_device = prediction.per_device().value;
    return by == Yield::per_dollar ? per_device / *candidate.per_hour : per_device;
}

std::vector<Standing> standings(const std::vector<Candidate>& candidates, const Slo& slo) {
    const Yield by = yield_of(candidates);
    std::vector<Standing> list;
    for (const auto& candidate : candidates) {
        const Prediction* best = best_within(candidate.predictions, slo);
        if (best != nullptr) list.push_back({&candidate, best, yield(*best, candidate, by)});
    }
    std::ranges::stable_sort(list, std::greater{}, &Standing::yield);
    return list;
}

std::vector<BreakEven> price_break_evens(const std::vector<Candidate>& candidates, const Slo& slo) {
    const auto list = standings(candidates, slo);
    if (list.size() < 2 || yield_of(candidates) != Yield::per_dollar) return {};
    std::vector<BreakEven> found;
    const Standing& winner = list.front();
    found.push_back({"price of " + winner.candidate->name,
                     winner.best->per_device().value / list[1].yield, "$/h", winner.candidate->name,
                     list[1].candidate->name});
    for (std::size_t i = 1; i < list.size(); ++i) {
        found.push_back({"price of " + list[i].candidate->name,
                         list[i].best->per_device().value / winner.yield, "$/h",
                         list[i].candidate->name, winner.candidate->name});
    }
    return found;
}

std::vector<BreakEven> limit_break_evens(const std::vector<Candidate>& candidates, const Slo& slo) {
    std::set<double> limits;
    for (const auto& candidate : candidates) {
        for (const auto& prediction : candidate.predictions) {
            limits.insert(prediction.tpot_s.value);
        }
    }
    std::vector<BreakEven> found;
    std::string before;
    for (const double limit : limits) {
        Slo tried = slo;
        tried.tpot_s = limit;
        const auto list = standings(candidates, tried);
        if (list.empty()) continue;
        const std::string& winner = list.front().candidate->name;
        const auto holder = std::ranges::find(
            list, before, [](const Standing& standing) { return standing.candidate->name; });
        const bool held =
            holder != list.end() && holder->yield * (1 + kClearLead) > list.front().yield;
        if (winner == before || held) continue;
        if (!before.empty()) found.push_back({"TPOT limit", limit, "s", before, winner});
        before = winner;
    }
    return found;
}

std::vector<BreakEven> acceptance_break_evens(const std::vector<Candidate>& candidates,
                                              const Slo& slo) {
    const auto list = standings(candidates, slo);
    if (list.size() < 2) return {};
    std::vector<BreakEven> found;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto& [candidate, best, now] = list[i];
        if (!best->load.speculation) continue;
        const Standing& rival = list[i == 0 ? 1 : 0];
        // Tokens/s of all devices that would give the rival's yield.
        const auto length = acceptance_for(*best, rival.yield / now * best->output_per_s.value);
        if (!length) continue;
        found.push_back({"acceptance length of " + candidate->name, *length, "tokens a step",
                         rival.candidate->name, candidate->name});
    }
    return found;
}

}  // namespace assay::plan
