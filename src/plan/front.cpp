#include "plan/front.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::plan {

namespace {

constexpr std::int64_t kMostOfReplica = 2048;

std::vector<std::int64_t> batches(std::int64_t replicas, std::int64_t largest) {
    std::vector<std::int64_t> list;
    const std::int64_t most = std::min(largest, kMostOfReplica * replicas);
    for (std::int64_t batch = replicas; batch <= most; batch *= 2) list.push_back(batch);
    const std::int64_t last = most / replicas * replicas;
    if (!list.empty() && list.back() != last) list.push_back(last);
    return list;
}

}  // namespace

bool Slo::holds(const Prediction& prediction) const {
    return (!ttft_s || prediction.ttft_s.value <= *ttft_s) &&
           (!tpot_s || prediction.tpot_s.value <= *tpot_s);
}

std::string Slo::text() const {
    std::vector<std::string> words;
    if (ttft_s) words.push_back("ttft=" + format_seconds(*ttft_s));
    if (tpot_s) words.push_back("tpot=" + format_seconds(*tpot_s));
    return join(words, ",");
}

Slo parse_slo(std::string_view text) {
    constexpr const char* kHint = "write --slo ttft=2s,tpot=20ms, either or both";
    Slo slo;
    for (const auto& pair : split(text, ',')) {
        const auto sides = split(pair, '=');
        if (sides.size() != 2 || (sides[0] != "ttft" && sides[0] != "tpot")) {
            throw UsageError(fmt::format("--slo {} is no limit", pair), kHint);
        }
        const double seconds = parse_seconds(sides[1]);
        if (!(seconds > 0)) {
            throw UsageError(fmt::format("--slo {}: a limit must be above 0", pair), kHint);
        }
        auto& limit = sides[0] == "ttft" ? slo.ttft_s : slo.tpot_s;
        if (limit) throw UsageError(fmt::format("--slo gives {} twice", sides[0]), kHint);
        limit = seconds;
    }
    return slo;
}

std::vector<Prediction> sweep(const StepModel& model, const std::vector<Fit>& fits,
                              const Budget& budget, double capacity, const Load& load,
                              const Rates& rates) {
    std::vector<Prediction> predictions;
    model::Use use = model.use();
    use.context = load.input + load.output;
    for (const auto& candidate : fits) {
        use.batch = candidate.layout.data;
        const Fit fitting = fit(model.holdings(), candidate.layout, use, budget, capacity);
        if (!fitting.fits()) continue;
        const std::int64_t largest =
            fitting.largest_batch.value_or(kMostOfReplica * candidate.layout.data);
        Load one = load;
        for (const std::int64_t batch : batches(candidate.layout.data, largest)) {
            one.batch = batch;
            predictions.push_back(predict(model, candidate.layout, one, rates));
        }
    }
    return predictions;
}

std::vector<Prediction> pareto_front(std::vector<Prediction> predictions) {
    std::ranges::stable_sort(predictions, [](const Prediction& one, const Prediction& other) {
        const double users[] = {one.per_user().value, other.per_user().value};
        if (users[0] != users[1]) return users[0] > users[1];
        return one.per_device().value > other.per_device().value;
    });
    std::vector<Prediction> front;
    for (const auto& prediction : predictions) {
        if (front.empty() || prediction.per_device().value > front.back().per_device().value) {
            front.push_back(prediction);
        }
    }
    return front;
}

const Prediction* best_within(const std::vector<Prediction>& predictions, const Slo& slo) {
    const Prediction* best = nullptr;
    for (const auto& prediction : predictions) {
        if (!slo.holds(prediction)) continue;
        if (best == nullptr || prediction.per_device().value > best->per_device().value) {
            best = &prediction;
        }
    }
    return best;
}

}  // namespace assay::plan
