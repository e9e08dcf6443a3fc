#include "plan/speed.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "model/flop.h"

namespace assay::plan {

namespace {

std::string name_of(const Answer& answer) {
    return fmt::format("{} x {}", answer.placement.devices, answer.target.device.name);
}

std::string unknown_rate(const Rates& rates, std::int64_t devices) {
    if (!rates.product.contains("bf16")) return "the catalog has no bf16 peak of the device";
    if (!rates.memory.known()) return "the catalog has no bandwidth of the device's memory";
    if (devices > 1 && rates.domain > 1 && !rates.link.known()) {
        return "the catalog has no scale-up link of the device";
    }
    return "";
}

class SpeedPlanner {
  public:
    SpeedPlanner(const Plan& plan, const model::Holdings& holdings, const SpeedQuestion& question)
        : plan_(plan), question_(question), model_(question.model, holdings, plan.use) {}

    SpeedPlan made() {
        SpeedPlan speed;
        speed.load = question_.load;
        speed.slo = question_.slo;
        for (std::size_t i = 0; i < plan_.answers.size(); ++i) speed.answers.push_back(answer(i));
        if (!plan_.use.training) compare(speed);
        return speed;
    }

  private:
    SpeedAnswer answer(std::size_t index) const {
        const Answer& answer = plan_.answers[index];
        const auto& device = answer.target.device;
        SpeedAnswer speed;
        const auto* measured =
            index < question_.measured.size() ? &question_.measured[index] : nullptr;
        speed.rates = rates_of(device, question_.published,
                               measured ? *measured : std::vector<Measured>{}, question_.network);
        const auto price = question_.prices.find(answer.target.word());
        if (price != question_.prices.end()) speed.per_hour = price->second;
        speed.why =
            answer.fits() ? unknown_rate(speed.rates, answer.placement.devices) : "it doesn't fit";
        if (!speed.why.empty()) return speed;
        speed.types = compute_types(model_, speed.rates);
        if (plan_.use.training) {
            train(answer, speed);
        } else {
            serve(answer, speed);
        }
        return speed;
    }

    void serve(const Answer& answer, SpeedAnswer& speed) const {
        const Fit& best = answer.placement.best;
        std::vector<Fit> fitting{best};
        for (const auto& fit : answer.placement.layouts) {
            if (fit.fits() && fit.layout != best.layout) fitting.push_back(fit);
        }
        for (const auto& fit : fitting) {
            speed.asked.push_back(predict(model_, fit.layout, question_.load, speed.rates));
        }
        speed.all = sweep(model_, fitting, plan_.budget, answer.target.capacity().value,
                          question_.load, speed.rates);
        speed.front = pareto_front(speed.all);
        const auto* picked = best_within(speed.all, question_.slo);
        if (picked != nullptr) speed.picked = *picked;
    }

    void train(const Answer& answer, SpeedAnswer& speed) const {
        const Fit& best = answer.placement.best;
        const auto& formula = model::flop_formula(question_.flop_formula);
        TrainingLoad load;
        load.sequence = plan_.use.context;
        load.micro_batch = plan_.use.batch;
        constexpr std::int64_t kMicroBatchesOfStage = 4;
        load.global_batch =
            question_.global_batch > 0
                ? question_.global_batch
                : load.micro_batch * best.layout.data * best.layout.pipeline * kMicroBatchesOfStage;
        load.flop_per_token =
            model::training_flop(question_.model.shape, formula, load.sequence).total();
        for (const auto& [type, figures] : answer.target.device.peak) {
            if (type == speed.types.plain && !figures.empty()) load.peak = figures.front().value;
        }
        load.failures = question_.failures;
        load.restart_s = question_.restart_s;
        load.checkpoint_s = question_.checkpoint_s;
        speed.training = predict_training(model_, best.layout, load, speed.rates);
        speed.flop_formula = question_.flop_formula;
        speed.mfu_peak = load.peak;
    }

    void compare(SpeedPlan& speed) const {
        std::vector<Candidate> candidates;
        std::vector<std::size_t> indexes;
        for (std::size_t i = 0; i < speed.answers.size(); ++i) {
            const auto& one = speed.answers[i];
            if (one.all.empty()) continue;
            candidates.push_back({name_of(plan_.answers[i]), one.all, one.per_hour});
            indexes.push_back(i);
        }
        if (candidates.empty()) return;
        speed.yield = yield_of(candidates);
        for (const auto& standing : standings(candidates, speed.slo)) {
            const auto at = standing.candidate - candidates.data();
            speed.ranking.push_back(
                {indexes[static_cast<std::size_t>(at)], *standing.best, standing.yield});
        }
        for (auto& found :
             {price_break_evens(candidates, speed.slo), limit_break_evens(candidates, speed.slo),
              acceptance_break_evens(candidates, speed.slo)}) {
            speed.break_evens.insert(speed.break_evens.end(), found.begin(), found.end());
        }
    }

    const Plan& plan_;
    const SpeedQuestion& question_;
    StepModel model_;
};

}  // namespace

bool SpeedPlan::slo_fails() const {
    if (!slo.ttft_s && !slo.tpot_s) return false;
    return std::ranges::any_of(answers, [](const SpeedAnswer& answer) {
        return answer.why.empty() && !answer.picked && !answer.training;
    });
}

SpeedPlan make_speed_plan(const Plan& plan, const model::Holdings& holdings,
                          const SpeedQuestion& question) {
    return SpeedPlanner(plan, holdings, question).made();
}

std::map<std::string, double> parse_hour_prices(std::string_view text,
                                                const std::vector<Target>& targets) {
    std::vector<std::string> words;
    for (const auto& target : targets) words.push_back(target.word());
    std::map<std::string, double> prices;
    for (const auto& pair : split(text, ',')) {
        const auto sides = split(pair, '=');
        if (sides.size() != 2) {
            throw UsageError(fmt::format("--price {} is no device=dollars", pair),
                             "write --price mi355x=2.50,b200=4.25: $ a device-hour");
        }
        const auto word = device_word(sides[0]);
        if (std::ranges::find(words, word) == words.end()) {
            throw_unknown("device in --price", sides[0], words);
        }
        const double price = parse_number(sides[1], "price");
        if (!(price > 0)) {
            throw UsageError(fmt::format("--price {}: a price must be above 0", pair),
                             "leave a device out whose price isn't known");
        }
        if (!prices.emplace(word, price).second) {
            throw UsageError(fmt::format("--price gives {} twice", sides[0]), "give it once");
        }
    }
    return prices;
}

}  // namespace assay::plan
