#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "report/speed.h"
#include "report/text_table.h"

namespace assay::report {

namespace {

using Align = TextTable::Align;

constexpr std::size_t kMostFront = 10;
constexpr const char* kCollectives = "a model by latency and bandwidth, without congestion";

std::string ends(const std::string& middle, const std::string& low, const std::string& high) {
    return fmt::format("{} ({} to {})", middle, low, high);
}

std::string seconds(const plan::Range& range) {
    return ends(format_seconds(range.value), format_seconds(range.low), format_seconds(range.high));
}

std::string number(const plan::Range& range, double scale = 1) {
    return ends(format_number(range.value * scale, 3), format_number(range.low * scale, 3),
                format_number(range.high * scale, 3));
}

// Where a step's time goes, largest first.
std::string parts_text(const plan::StepTime& time) {
    std::vector<std::pair<double, const char*>> parts{
        {time.products, "products"},       {time.experts, "experts"},
        {time.attention, "attention"},     {time.recurrence, "recurrence"},
        {time.collectives, "collectives"}, {time.overhead, "overhead"}};
    std::ranges::stable_sort(parts, std::greater{}, &std::pair<double, const char*>::first);
    std::string text;
    for (const auto& [part, name] : parts) {
        const double share = part / time.total();
        if (share < 0.01) continue;
        text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * share);
    }
    return text;
}

std::string name_of(const plan::Plan& plan, std::size_t answer) {
    const auto& one = plan.answers[answer];
    return fmt::format("{} x {}", one.placement.devices, one.target.device.name);
}

std::string load_text(const plan::SpeedPlan& speed) {
    std::string text =
        fmt::format("predicted: {} tokens in, {} out", speed.load.input, speed.load.output);
    if (const auto& speculation = speed.load.speculation) {
        text += fmt::format(
            ", {} drafts a step of which {} tokens result (draft model {:.0f} % of a step)",
            speculation->drafts, format_number(speculation->acceptance, 3),
            100 * speculation->draft_share);
    }
    const auto limits = speed.slo.text();
    return text + (limits.empty() ? "" : ", limits " + limits) + "\n";
}

std::string asked_text(const plan::Plan& plan, const plan::SpeedPlan& speed) {
    TextTable table({{"on"},
                     {"layout"},
                     {"batch", Align::right},
                     {"TTFT"},
                     {"TPOT"},
                     {"output tok/s"},
                     {"a user"},
                     {"tok/s per $/h", Align::right}});
    for (std::size_t i = 0; i < speed.answers.size(); ++i) {
        const auto& answer = speed.answers[i];
        if (answer.asked.empty()) continue;
        const auto& p = answer.asked.front();
        const double hour = answer.per_hour.value_or(0) * static_cast<double>(p.devices);
        table.add({plan.answers[i].target.text, p.layout.text(), std::to_string(p.load.batch),
                   seconds(p.ttft_s), seconds(p.tpot_s), number(p.output_per_s),
                   number(p.per_user()),
                   hour > 0 ? format_number(p.output_per_s.value / hour, 3) : ""});
    }
    return table.empty() ? "" : table.text();
}

std::string ranking_text(const plan::Plan& plan, const plan::SpeedPlan& speed) {
    if (speed.ranking.empty()) return "";
    const bool dollars = speed.yield == plan::Yield::per_dollar;
    TextTable table({{"best within the limits"},
                     {"layout"},
                     {"batch", Align::right},
                     {"TTFT", Align::right},
                     {"TPOT", Align::right},
                     {"output tok/s a device"},
                     {dollars ? "tok/s per $/h" : "", Align::right}});
    for (const auto& rank : speed.ranking) {
        table.add({name_of(plan, rank.answer), rank.best.layout.text(),
                   std::to_string(rank.best.load.batch), format_seconds(rank.best.ttft_s.value),
                   format_seconds(rank.best.tpot_s.value), number(rank.best.per_device()),
                   dollars ? format_number(rank.yield, 3) : ""});
    }
    std::string text = "\n" + table.text();
    if (speed.ranking.size() > 1 &&
        speed.ranking[0].yield < speed.ranking[1].yield * (1 + plan::kClearLead)) {
        text += fmt::format("  the first leads by less than {:.0f} %: no winner\n",
                            100 * plan::kClearLead);
    }
    for (const auto& change : speed.break_evens) {
        const auto value = change.unit == "s" ? format_seconds(change.value)
                                              : format_number(change.value, 3) + " " + change.unit;
        text += fmt::format("  {} {}: below it {}, above it {}\n", change.what, value,
                            change.before, change.after);
    }
    return text;
}

std::string front_text(const plan::SpeedAnswer& answer) {
    TextTable table({{"front: layout"},
                     {"batch", Align::right},
                     {"tok/s a user", Align::right},
                     {"tok/s a device", Align::right},
                     {"TTFT", Align::right},
                     {"TPOT", Align::right}});
    const auto step = std::max<std::size_t>(1, (answer.front.size() + kMostFront - 1) / kMostFront);
    for (std::size_t i = 0; i < answer.front.size(); i += step) {
        const auto& p = answer.front[i];
        table.add({p.layout.text(), std::to_string(p.load.batch),
                   format_number(p.per_user().value, 3), format_number(p.per_device().value, 3),
                   format_seconds(p.ttft_s.value), format_seconds(p.tpot_s.value)});
    }
    return table.empty() ? "" : table.text();
}

std::string rates_text(const plan::Rates& rates) {
    TextTable table({{"rate"}, {"value"}, {"from"}});
    for (const auto& [name, unit, rate] : rates.all()) {
        if (!rate.known()) continue;
        const bool time = unit == "s";
        const double scale = unit == "FLOP/s" ? 1e-12 : unit == "B/s" ? 1e-9 : 1;
        const char* shown = unit == "FLOP/s" ? " TFLOP/s" : unit == "B/s" ? " GB/s" : "";
        table.add({name,
                   time ? seconds({rate.value, rate.high, rate.low})
                        : number({rate.value, rate.low, rate.high}, scale) + shown,
                   rate.source});
    }
    return table.text();
}

std::string training_text(const plan::SpeedAnswer& answer) {
    const auto& t = *answer.training;
    std::string text;
    const auto line = [&](const char* name, const std::string& value) {
        text += fmt::format("  {:<22} {}\n", name, value);
    };
    line("step", fmt::format("{}, {} micro-batches", seconds(t.step_s), t.micro_batches));
    line("tokens/s", number(t.tokens_per_s));
    if (answer.mfu_peak > 0) {
        line("MFU", fmt::format("{} %, by {}'s FLOP over {} TFLOP/s of {}", number(t.mfu, 100),
                                answer.flop_formula, format_number(answer.mfu_peak / 1e12, 4),
                                answer.types.plain));
    }
    line("pipeline bubble", fmt::format("{:.1f} % of the step", 100 * t.bubble));
    line("gradients, optimizer", format_seconds(t.reduce_s) + ", " + format_seconds(t.optimizer_s));
    line("lost to failures", fmt::format("{:.1f} %, a checkpoint every {}", 100 * t.loss.share,
                                         format_seconds(t.loss.interval)));
    line("tokens a day", fmt::format("{} billion", number(t.tokens_per_day, 1e-9)));
    line("a micro-batch forward", parts_text(t.forward));
    line("multiplied in", answer.types.plain + ", experts " + answer.types.experts);
    line("collectives", kCollectives);
    return text;
}

std::string answer_text(const plan::Plan& plan, const plan::SpeedPlan& speed, std::size_t index) {
    const auto& answer = speed.answers[index];
    std::string text = fmt::format("\n{}: speed\n", plan.answers[index].target.text);
    if (!answer.why.empty()) return text + "  nothing is predicted: " + answer.why + "\n";
    if (answer.training) return text + training_text(answer) + "\n" + rates_text(answer.rates);
    const auto& asked = answer.asked.front();
    text += fmt::format("  {:<22} {} tokens/s\n", "prefill alone", number(asked.prefill_per_s));
    text += fmt::format("  {:<22} {}\n", "a prefill's time", parts_text(asked.prefill));
    text += fmt::format("  {:<22} {}; {:.0f} % waits for memory\n", "a step's time",
                        parts_text(asked.decode),
                        100 * asked.decode.memory_bound / asked.decode.total());
    text += fmt::format("  {:<22} {}, experts {}\n", "multiplied in", answer.types.plain,
                        answer.types.experts);
    text += fmt::format("  {:<22} {}\n", "collectives", kCollectives);
    if (!speed.slo.text().empty() && !answer.picked) {
        text += fmt::format("  {:<22} no layout and batch keeps {}\n", "limits", speed.slo.text());
    }
    return text + "\n" + front_text(answer) + "\n" + rates_text(answer.rates);
}

}  // namespace

std::string speed_text(const plan::Plan& plan, const plan::SpeedPlan& speed) {
    if (speed.answers.empty()) return "";
    std::string text;
    if (!plan.use.training) {
        const auto asked = asked_text(plan, speed);
        if (!asked.empty()) text += "\n" + load_text(speed) + asked + ranking_text(plan, speed);
    }
    for (std::size_t i = 0; i < speed.answers.size(); ++i) text += answer_text(plan, speed, i);
    return text;
}

}  // namespace assay::report
