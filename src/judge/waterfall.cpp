#include "judge/waterfall.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "judge/look.h"
#include "stats/quantile.h"

namespace assay::judge {

namespace {

constexpr double kSameClock = 0.01;  // clocks closer than this need no cause
constexpr const char* kAlgorithm = "algorithm";
constexpr const char* kHeuristic = "heuristic";

struct Call {
    double time = 0;    // s, median
    double gap = 0;     // s
    double cycles = 0;  // median
    double busy() const { return time - gap; }
    double clock() const { return cycles / busy(); }  // Hz
};

std::optional<double> gap_of(const record::Result& result) {
    const auto found = result.conditions.settings.find("gap_s");
    if (found == result.conditions.settings.end()) return std::nullopt;
    try {
        const double gap = parse_number(found->second, "gap_s");
        if (std::isfinite(gap) && gap >= 0) return gap;
    } catch (const UsageError&) {
        // Not a number: as unknown as one that isn't there.
    }
    return std::nullopt;
}

const std::vector<double>* samples(const record::Launch& launch, const char* name) {
    const auto found = launch.samples.find(name);
    return found == launch.samples.end() ? nullptr : &found->second.values;
}

bool is_measure(double value) {
    return std::isfinite(value) && value > 0;
}

std::optional<Call> call_of(const record::Result& result, double gap) {
    std::vector<double> times;
    std::vector<double> cycles;
    for (const auto& launch : result.launches) {
        const auto* seconds = samples(launch, "time");
        const auto* mhz = samples(launch, "clock_mhz");
        if (seconds == nullptr || mhz == nullptr || seconds->size() != mhz->size()) {
            return std::nullopt;
        }
        if (!std::ranges::all_of(*seconds, is_measure) || !std::ranges::all_of(*mhz, is_measure)) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < seconds->size(); ++i) {
            times.push_back((*seconds)[i]);
            cycles.push_back(((*seconds)[i] - gap) * (*mhz)[i] * 1e6);
        }
    }
    if (times.empty()) return std::nullopt;
    Call call{stats::median(times), gap, stats::median(cycles)};
    if (call.busy() <= 0 || call.cycles <= 0) return std::nullopt;
    return call;
}

const std::string& algorithm_of(const record::Result& result) {
    return result.what.at(kAlgorithm);
}

bool comparable(const record::Result& a, const record::Result& b) {
    return a.status == record::Status::ok && b.status == record::Status::ok && a.probe == b.probe &&
           a.device == b.device;
}

// What algorithms of the same product share, however many a tuned one was chosen from.
std::string product_of(record::Case what) {
    constexpr const char* kSearched = "algorithms";
    if (what.has(kSearched)) what.set(kSearched, "", "");
    return text_without(what, kAlgorithm);
}

// The result that algorithms of the same case and protocol are compared with.
const record::Result& base_of(const record::Run& run, const record::Result& result) {
    const record::Result* first = nullptr;
    for (const auto& other : run.results) {
        if (!comparable(other, result) || !other.what.has(kAlgorithm)) continue;
        if (other.conditions.protocol != result.conditions.protocol) continue;
        if (product_of(other.what) != product_of(result.what)) continue;
        if (algorithm_of(other) == kHeuristic) return other;
        if (first == nullptr) first = &other;
    }
    return first == nullptr ? result : *first;
}

const record::Result* boost_of(const record::Run& run, const record::Result& result) {
    const auto found = std::ranges::find_if(run.results, [&](const auto& other) {
        return comparable(other, result) && other.conditions.protocol == "boost" &&
               other.what.text() == result.what.text();
    });
    return found == run.results.end() ? nullptr : &*found;
}

void add(const record::Result& old_result, const record::Result& new_result, std::string of,
         std::string over, std::vector<Waterfall>& all) {
    auto one = waterfall(old_result, new_result);
    if (!one) return;
    one->of = std::move(of);
    one->over = std::move(over);
    all.push_back(std::move(*one));
}

}  // namespace

std::optional<Waterfall> waterfall(const record::Result& old_result,
                                   const record::Result& new_result) {
    const auto old_gap = gap_of(old_result);
    const auto new_gap = gap_of(new_result);
    const bool known = old_gap && new_gap;
    const auto before = call_of(old_result, known ? *old_gap : 0);
    const auto after = call_of(new_result, known ? *new_gap : 0);
    if (!before || !after) return std::nullopt;

    Waterfall one;
    one.result = &new_result;
    one.ratio = after->time / before->time;
    one.clock = before->clock() / after->clock();
    one.cycles = after->cycles / before->cycles;
    one.gaps = (after->time / after->busy()) / (before->time / before->busy());
    one.gaps_known = known;
    if (std::abs(one.clock - 1) > kSameClock) {
        one.cause = limit_of((one.clock > 1 ? new_result : old_result).conditions);
        if (one.cause == Limit::none) one.cause = Limit::other;
    }
    return one;
}

std::vector<Waterfall> waterfalls(const record::Run& run) {
    std::vector<Waterfall> all;
    for (const auto& result : run.results) {
        if (result.status != record::Status::ok) continue;
        if (result.conditions.protocol == "sustained") {
            const auto* boost = boost_of(run, result);
            if (boost != nullptr) add(*boost, result, "sustained", "boost", all);
        }
        if (!result.what.has(kAlgorithm)) continue;
        const auto& base = base_of(run, result);
        if (&base != &result && algorithm_of(base) != algorithm_of(result)) {
            add(base, result, algorithm_of(result), algorithm_of(base), all);
        }
    }
    return all;
}

}  // namespace assay::judge
