#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "report/format.h"
#include "report/text_table.h"

namespace assay::report {

namespace {

using Align = TextTable::Align;

std::string percent_of(double value, const std::optional<double>& whole) {
    return whole && *whole > 0 ? fmt::format("{:.0f} %", 100 * value / *whole) : "unknown";
}

// Quantities with the same basis of their promise, or reason why it is unknown, in one line.
std::vector<std::pair<std::string, std::vector<std::string>>> by_basis(
    const judge::Verdict& verdict) {
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    for (const auto& d : verdict.delivered) {
        if (d.promise_basis.empty()) continue;
        const std::string basis = (d.promised ? "" : "unknown: ") + d.promise_basis;
        const auto same = std::ranges::find(groups, basis, &decltype(groups)::value_type::first);
        auto& group =
            same == groups.end() ? groups.emplace_back(basis, std::vector<std::string>{}) : *same;
        if (std::ranges::find(group.second, d.quantity) == group.second.end()) {
            group.second.push_back(d.quantity);  // once for all protocols
        }
    }
    return groups;
}

// "720", or from the least to the most of several.
std::string published_text(const judge::Delivered& delivered) {
    const auto& rows = delivered.published;
    if (rows.size() < 2) return rows.empty() ? "" : rows[0].value_text();
    const auto most_of = [](const catalog::Published& row) { return row.most.value_or(row.value); };
    const double least = std::ranges::min_element(rows, {}, &catalog::Published::value)->value;
    const double most = most_of(*std::ranges::max_element(rows, {}, most_of));
    return fmt::format("{} to {}", exact_number(least), exact_number(most));
}

// Who published what, once for all protocols of a quantity.
std::string published_sources(const judge::Verdict& verdict) {
    std::vector<std::string> lines;
    for (const auto& d : verdict.delivered) {
        for (const auto& row : d.published) {
            auto line = fmt::format("  published for {} {}: {} {} ({})\n", d.device, d.quantity,
                                    row.value_text(), row.unit, row.source_text());
            if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
        }
    }
    if (!verdict.published_problem.empty()) {
        lines.push_back("  published figures: " + verdict.published_problem + "\n");
    }
    return join(lines, "");
}

}  // namespace

std::string verdict_text(const judge::Verdict& verdict,
                         const std::vector<record::Finding>& findings) {
    std::string text;
    if (!verdict.delivered.empty()) {
        TextTable table({{"delivered", Align::left},
                         {"", Align::right},
                         {"", Align::left},
                         {"of the promise", Align::right},
                         {"of what the clock allows", Align::right},
                         {"published", Align::right},
                         {"at", Align::left}});
        for (const auto& d : verdict.delivered) {
            table.add({d.device + " " + d.quantity, format_number(d.value), d.unit,
                       percent_of(d.value, d.promised), percent_of(d.value, d.clock_allows),
                       published_text(d), d.case_text});
        }
        text += "verdict\n" + table.text();
        for (const auto& [basis, quantities] : by_basis(verdict)) {
            text += fmt::format("  promise of {}: {}\n", join(quantities, ", "), basis);
        }
        text += published_sources(verdict);
        text += "\n";
    }
    if (!findings.empty()) text += "findings\n";
    for (const auto& finding : findings) {
        text += fmt::format("  {} [{}] {}\n", record::name(finding.severity), finding.rule,
                            finding.message);
        constexpr std::size_t kShown = 4;
        for (std::size_t i = 0; i < finding.evidence.size() && i < kShown; ++i) {
            text += fmt::format("      {}\n", finding.evidence[i]);
        }
        if (finding.evidence.size() > kShown) {
            text +=
                fmt::format("      and {} more in the JSON\n", finding.evidence.size() - kShown);
        }
        if (!finding.advice.empty()) text += fmt::format("      do: {}\n", finding.advice);
    }
    if (!verdict.headline.empty()) {
        text += (findings.empty() ? "" : "\n") + verdict.headline + "\n";
    }
    return text;
}

}  // namespace assay::report
