#include "plan/planning.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::plan {

namespace {

std::string gb(double bytes) {
    return format_number(bytes / 1e9, 4) + " GB";
}

void expect_sense(const model::Use& use) {
    if (use.context < 1) {
        throw UsageError(fmt::format("--context {} is no number of tokens", use.context),
                         "give 1 or more");
    }
    if (use.batch < 1) {
        throw UsageError(fmt::format("--batch {} is no number of requests", use.batch),
                         "give 1 or more");
    }
}

// Else it would be told as a count of devices that is too small, which no count mends.
void expect_room_beside_workspace(const Question& question, const Target& target) {
    const double capacity = target.capacity().value;
    const double workspace = question.use.workspace;
    if (question.budget.room(capacity, workspace) > 0) return;
    throw UsageError(
        fmt::format("a workspace of {} leaves nothing of {} of the {} of {}", gb(workspace),
                    question.budget.text(), gb(capacity), target.device.name),
        "give less --workspace or more --budget");
}

ModelFacts facts_of(const Question& question) {
    const auto& transformer = question.transformer;
    ModelFacts facts;
    facts.name = transformer.name;
    facts.architecture = transformer.architecture;
    facts.positions = transformer.positions;
    facts.counts = model::count(transformer);
    facts.extras = transformer.extras;
    for (const auto& formula : model::flop_formulas()) {
        facts.flop.push_back({formula.name, formula.text, formula.source,
                              model::training_flop(transformer, formula, question.use.context)});
    }
    facts.parameters = question.holdings.parameters();
    facts.bytes = question.holdings.bytes();
    const auto& use = question.use;
    facts.kv_per_token = model::cache_bytes_per_token(transformer, use.cache);
    facts.kv_of_request =
        model::cache_bytes(transformer, static_cast<double>(use.context), use.cache);
    facts.kv_of_windows = model::window_bytes(transformer, use.cache);
    facts.state_of_request =
        static_cast<double>(model::state_elements(transformer)) * use.state_bytes;
    facts.left_out = question.holdings.left_out;
    facts.unknown = transformer.unknown;
    facts.assumed = transformer.assumed;
    return facts;
}

std::vector<std::string> notes_of(const Question& question, const Target& target,
                                  const Placement& placement) {
    auto notes = placement.notes;
    if (!target.alike.empty()) {
        notes.push_back(fmt::format("taken as {}; the word names {} too", target.device.name,
                                    join(target.alike, " and ")));
    }
    const auto& layout = placement.best.layout;
    const auto group = static_cast<std::int64_t>(layout.tensor);
    if (group > target.device.domain) {
        notes.push_back(fmt::format("TP {} reaches beyond the {} devices that the fast link joins",
                                    layout.tensor, target.device.domain));
    }
    if (target.per_node_assumed()) {
        notes.push_back(fmt::format("{} devices a node are assumed", target.per_node()));
    }
    for (const auto& obstacle :
         model::obstacles(question.transformer, layout, question.use.purpose())) {
        notes.push_back(obstacle.text() + ": filled up with zeros");
    }
    return notes;
}

// Where a named count doesn't hold it: the smallest that does, under the same widths.
std::string enough(const Question& question, Target target) {
    target.count.reset();
    const auto placement = place(question, target);
    if (!placement.best.fits()) return "";
    return fmt::format("{} devices on {} node{} would hold it, as {}", placement.devices,
                       placement.nodes, placement.nodes == 1 ? "" : "s",
                       placement.best.layout.text());
}

Answer answer(const Question& question, const Target& target) {
    Answer result;
    result.target = target;
    result.placement = place(question, target);
    const double capacity = target.capacity().value;
    const auto& best = result.placement.best;
    result.least_devices = least_devices(question, capacity);
    result.weight_share = question.holdings.bytes() / static_cast<double>(result.placement.devices);
    result.divisions = model::divisions(question.holdings, best.layout, question.use, best.stage);
    result.heads = model::heads_of_rank(question.holdings, best.layout);
    if (!best.fits()) result.why = why_not(best, question.use, question.budget, capacity);
    result.notes = notes_of(question, target, result.placement);
    if (!best.fits() && target.count) {
        if (auto note = enough(question, target); !note.empty()) {
            result.notes.push_back(std::move(note));
        }
    }
    return result;
}

}  // namespace

bool Plan::named_count_fails() const {
    return std::ranges::any_of(
        answers, [](const Answer& one) { return one.target.count.has_value() && !one.fits(); });
}

Plan make_plan(const Question& question, const std::vector<Target>& targets) {
    expect_sense(question.use);
    for (const auto& target : targets) expect_room_beside_workspace(question, target);
    Plan plan;
    plan.model = facts_of(question);
    plan.use = question.use;
    plan.budget = question.budget;
    for (const auto& target : targets) plan.answers.push_back(answer(question, target));
    const auto positions = question.transformer.positions;
    if (positions > 0 && question.use.context > positions) {
        plan.notes.push_back(
            fmt::format("the context of {} tokens is longer than the {} positions "
                        "that the model was made for",
                        question.use.context, positions));
    }
    return plan;
}

std::string why_not(const Fit& fit, const model::Use& use, const Budget& budget, double capacity) {
    const auto& memory = fit.memory;
    std::vector<std::string> words;
    const auto add = [&](const char* what, double bytes) {
        if (bytes > 0) words.push_back(fmt::format("{} {}", what, gb(bytes)));
    };
    add("weights", memory.weights);
    add("gradients", memory.gradients);
    add("optimizer", memory.optimizer);
    add("cache", memory.kv_cache);
    add("state", memory.state);
    add("activations", memory.activations);
    add("workspace", memory.workspace);
    // What all of it may be, by the budget's meaning.
    const double allowed = memory.fixed(use.purpose()) + fit.room;
    return fmt::format("{}: {} = {} on each device; {} of {} allows {}: {} short",
                       fit.layout.text(), join(words, " + "), gb(memory.total()), budget.text(),
                       gb(capacity), gb(allowed), gb(fit.missing));
}

}  // namespace assay::plan
