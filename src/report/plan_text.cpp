#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "report/plan.h"
#include "report/text_table.h"

namespace assay::report {

namespace {

using Align = TextTable::Align;

constexpr std::size_t kNameWidth = 22;
constexpr std::size_t kMostLayouts = 8;

std::string gb(double bytes) {
    return format_number(bytes / 1e9, 4);
}

std::string grouped(std::int64_t number) {
    auto text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
        text.insert(static_cast<std::size_t>(at), ",");
    }
    return text;
}

std::string line(std::string_view name, const std::string& value) {
    return value.empty() ? "" : fmt::format("  {:<{}} {}\n", name, kNameWidth, value);
}

std::string counts_text(const model::Counts& counts) {
    auto text =
        fmt::format("{}, of which a token uses {}; embedding {}, head {}", grouped(counts.total),
                    grouped(std::llround(counts.active)), grouped(counts.embedding),
                    counts.head > 0 ? grouped(counts.head) : "the same");
    if (counts.predictors > 0) {
        text += fmt::format("; multi-token prediction {} more", grouped(counts.predictors));
    }
    return text;
}

// The checkpoint's bytes beside the config's.
std::string files_text(const plan::ModelFacts& m) {
    if (!m.files) return "";
    const auto& files = *m.files;
    auto text = fmt::format("{} GB stored, {} GB by the config", gb(files.stored_bytes),
                            gb(files.config_bytes));
    if (const auto difference = files.parameters_difference()) {
        text += *difference == 0 ? ", the same parameters"
                                 : fmt::format(", {} parameters {}", grouped(std::abs(*difference)),
                                               *difference > 0 ? "more" : "fewer");
    }
    return line("checkpoint", text) + line("", m.checkpoint);
}

std::string model_text(const plan::Plan& plan) {
    const auto& m = plan.model;
    std::string text = m.name + "\n";
    text += line("architecture", m.architecture);
    text += line("parameters", counts_text(m.counts));
    for (const auto& extra : m.extras) {
        text += line("beside them", fmt::format("{}, {}", extra.what, grouped(extra.parameters)));
    }
    text += line("parameters held", fmt::format("{} B", format_number(m.parameters / 1e9, 6)));
    text += line("weights", fmt::format("{} GB ({} GiB){}", gb(m.bytes),
                                        format_number(m.bytes / 1073741824.0, 4),
                                        m.stored_as.empty() ? "" : ", " + m.stored_as));
    if (m.kv_per_token > 0) {
        text += line("cache per token", fmt::format("{} B, of layers that keep every token",
                                                    exact_number(m.kv_per_token)));
    }
    text += line(fmt::format("cache at {}", grouped(plan.use.context)),
                 fmt::format("{} GB a request", gb(m.kv_of_request)));
    if (m.kv_of_windows > 0) {
        text +=
            line("cache of windows", fmt::format("{} GB a request at most", gb(m.kv_of_windows)));
    }
    if (m.state_of_request > 0) {
        text += line("recurrent state", fmt::format("{} GB a request", gb(m.state_of_request)));
    }
    text += files_text(m);
    for (const auto& what : m.left_out) text += line("left out", what);
    for (const auto& what : m.unknown) text += line("not in the config", what);
    for (const auto& what : m.assumed) text += line("assumed", what);
    return text;
}

std::string kinds_text(const model::Counts& counts) {
    TextTable table({{"layers"},
                     {"number", Align::right},
                     {"parameters", Align::right},
                     {"of which a token uses", Align::right}});
    for (const auto& kind : counts.kinds) {
        table.add({kind.kind, std::to_string(kind.layers), grouped(kind.parameters),
                   grouped(std::llround(kind.active))});
    }
    return table.text();
}

std::string flop_text(const plan::Plan& plan) {
    TextTable table({{"training GFLOP a token"},
                     {"weights", Align::right},
                     {"attention", Align::right},
                     {"sum", Align::right},
                     {"formula"}});
    for (const auto& [formula, text, source, flop] : plan.model.flop) {
        table.add({std::string(formula), format_number(flop.weights / 1e9, 5),
                   format_number(flop.attention / 1e9, 5), format_number(flop.total() / 1e9, 5),
                   fmt::format("{} ({})", text, source)});
    }
    return table.text();
}

std::string use_text(const plan::Plan& plan) {
    const auto& use = plan.use;
    if (!use.training) {
        return fmt::format("inference: {} request{} of {} tokens, budget {}\n", grouped(use.batch),
                           use.batch == 1 ? "" : "s", grouped(use.context), plan.budget.text());
    }
    return fmt::format(
        "training: {} ({} B a parameter), ZeRO {}, recompute {}, micro-batch {} x {} tokens, "
        "budget {}\n",
        use.training->optimizer.name, format_number(use.training->optimizer.total(), 4),
        use.training->zero, model::name(use.training->recompute), grouped(use.batch),
        grouped(use.context), plan.budget.text());
}

std::string batch_text(const plan::Fit& fit) {
    return fit.largest_batch ? grouped(*fit.largest_batch) : "any";
}

std::string context_text(const plan::Fit& fit, std::int64_t positions) {
    if (!fit.largest_context || (positions > 0 && *fit.largest_context >= positions)) {
        return positions > 0 ? grouped(positions) : "any";
    }
    return grouped(*fit.largest_context);
}

std::string summary_text(const plan::Plan& plan) {
    TextTable table({{"on"},
                     {"devices", Align::right},
                     {"nodes", Align::right},
                     {"fits"},
                     {"layout"},
                     {"weights GB", Align::right},
                     {"of GB", Align::right},
                     {plan.use.training ? "micro-batch" : "largest batch", Align::right},
                     {"largest context", Align::right}});
    for (const auto& answer : plan.answers) {
        const auto& best = answer.placement.best;
        table.add({answer.target.text, grouped(answer.placement.devices),
                   grouped(answer.placement.nodes), answer.fits() ? "yes" : "no",
                   best.layout.text(), gb(best.memory.weights), gb(answer.target.capacity().value),
                   answer.fits() ? batch_text(best) : "",
                   answer.fits() ? context_text(best, plan.model.positions) : ""});
    }
    return table.text();
}

std::string heads_text(const model::HeadsOfRank& heads) {
    std::string text = fmt::format("{} of {} on a rank", heads.of_rank, heads.heads);
    if (heads.added > 0) text += fmt::format(", {} of them zeros in all", heads.added);
    if (heads.kernel_pads_to) {
        text += fmt::format(
            ", padded to {} where the fast kernel takes multiples of {} "
            "(vllm-project/vllm#50578)",
            *heads.kernel_pads_to, model::kLatentHeadMultiple);
    }
    return text;
}

std::string memory_text(const plan::Fit& fit, double capacity) {
    TextTable table({{"held by each"}, {"GB", Align::right}, {"of the device", Align::right}});
    const auto add = [&](const char* what, double bytes) {
        if (bytes <= 0) return;
        table.add({what, gb(bytes), fmt::format("{:.1f} %", 100 * bytes / capacity)});
    };
    const auto& m = fit.memory;
    add("weights", m.weights);
    add("gradients", m.gradients);
    add("optimizer", m.optimizer);
    add("cache", m.kv_cache);
    add("recurrent state", m.state);
    add("activations (estimate)", m.activations);
    add("workspace (allowance)", m.workspace);
    add("sum", m.total());
    return table.text();
}

std::string divisions_text(const std::vector<model::Division>& divisions) {
    TextTable table({{"part"}, {"GB", Align::right}, {"on each", Align::right}, {"how"}});
    for (const auto& division : divisions) {
        table.add({division.what, gb(division.whole), gb(division.on_device), division.how});
    }
    return table.text();
}

// Of the others that fit, those for most requests.
std::string layouts_text(const plan::Answer& answer, std::int64_t positions) {
    std::vector<plan::Fit> others;
    for (const auto& fit : answer.placement.layouts) {
        if (fit.layout != answer.placement.best.layout && fit.fits()) others.push_back(fit);
    }
    std::ranges::stable_sort(others, std::ranges::greater{},
                             [](const plan::Fit& fit) { return fit.largest_batch.value_or(0); });
    TextTable table({{"other layouts"},
                     {"weights GB", Align::right},
                     {"largest batch", Align::right},
                     {"largest context", Align::right}});
    for (std::size_t i = 0; i < std::min(others.size(), kMostLayouts); ++i) {
        table.add({others[i].layout.text(), gb(others[i].memory.weights), batch_text(others[i]),
                   context_text(others[i], positions)});
    }
    auto text = table.empty() ? "" : table.text();
    if (others.size() > kMostLayouts) {
        text += fmt::format("  and {} more, in the JSON\n", others.size() - kMostLayouts);
    }
    return text;
}

std::string answer_text(const plan::Plan& plan, const plan::Answer& answer) {
    const auto& best = answer.placement.best;
    const auto& capacity = answer.target.capacity();
    std::string text =
        fmt::format("\n{}: {} x {}, {}\n", answer.target.text, answer.placement.devices,
                    answer.target.device.name, best.layout.text());
    text += line("memory", fmt::format("{} GB a device ({})", gb(capacity.value), capacity.source));
    text += line("no fewer than", fmt::format("{} can hold it", answer.least_devices));
    if (!plan.use.training) {
        text += line("weights on each",
                     fmt::format("{} GB: a share of {} and {} that others hold too",
                                 gb(best.memory.weights), gb(answer.weight_share),
                                 gb(std::max(0.0, best.memory.weights - answer.weight_share))));
    }
    if (best.layout.pipeline > 1) {
        text +=
            line("fullest stage", fmt::format("{} of {}", best.stage + 1, best.layout.pipeline));
    }
    for (const auto& heads : answer.heads) text += line(heads.what + " heads", heads_text(heads));
    if (answer.fits() && best.cache_tokens && !plan.use.training) {
        text += line("tokens of cache", grouped(static_cast<std::int64_t>(*best.cache_tokens)));
    }
    if (!answer.why.empty()) text += line("doesn't fit", answer.why);
    for (const auto& note : answer.notes) text += line("note", note);
    text += "\n" + memory_text(best, capacity.value);
    text += "\n" + divisions_text(answer.divisions);
    const auto layouts = layouts_text(answer, plan.model.positions);
    return layouts.empty() ? text : text + "\n" + layouts;
}

}  // namespace

std::string plan_text(const plan::Plan& plan) {
    std::string text = model_text(plan);
    text += "\n" + kinds_text(plan.model.counts);
    if (plan.answers.empty()) text += "\n" + flop_text(plan);
    text += "\n" + use_text(plan);
    for (const auto& note : plan.notes) text += line("note", note);
    text += "\n" + summary_text(plan);
    for (const auto& answer : plan.answers) text += answer_text(plan, answer);
    return text;
}

}  // namespace assay::report
