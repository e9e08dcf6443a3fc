#include "report/cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/units.h"
#include "report/csv_row.h"
#include "report/text_table.h"

namespace assay::report {

namespace {

using plan::CostFigure;
using Align = TextTable::Align;

constexpr int kBarsShown = 12;

// "1,234,567.80"
std::string grouped(double value, int decimals) {
    auto text = fmt::format("{:.{}f}", value, decimals);
    const auto point = std::min(text.find('.'), text.size());
    const std::size_t first = value < 0 ? 1 : 0;
    for (auto at = point; at > first + 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

// Cents where a month or a purchase is told, else four digits.
std::string value_text(double value, const std::string& unit) {
    if (!std::isfinite(value)) return "none";
    if (unit == "$" || unit == "$/month") return grouped(value, 2);
    if (unit == "$/h" || unit == "$/Mtoken") return format_number(value, 4);
    if (value == std::round(value) && std::fabs(value) < 1e15) return grouped(value, 0);
    if (unit == "share") return fmt::format("{:.2f} %", 100 * value);
    return std::fabs(value) >= 1000 ? grouped(value, 1) : format_number(value, 4);
}

std::string unit_text(const std::string& unit) {
    return unit == "share" ? "" : unit;
}

std::string figures_text(const std::vector<CostFigure>& figures) {
    std::string text;
    for (std::size_t i = 0; i < figures.size();) {
        const auto& section = figures[i].section;
        TextTable table({{section, Align::left},
                         {"", Align::right},
                         {"", Align::left},
                         {"which is", Align::left}});
        for (; i < figures.size() && figures[i].section == section; ++i) {
            const auto& f = figures[i];
            table.add({f.name, value_text(f.value, f.unit), unit_text(f.unit), f.definition});
        }
        text += table.text() + "\n";
    }
    return text;
}

bool assumed(const plan::SystemCost& system, const std::string& input) {
    const auto found = std::ranges::find(system.inputs, input, &catalog::Input::name);
    return found != system.inputs.end() && found->assumption;
}

std::string parts_text(const plan::SystemCost& system) {
    TextTable table({{"part", Align::left},
                     {"quantity", Align::right},
                     {"$ each", Align::right},
                     {"$ once", Align::right},
                     {"$ a month", Align::right},
                     {"share", Align::right},
                     {"price is", Align::left}});
    const auto exact = [](double value) {
        return value == std::round(value) ? grouped(value, 0)
               : value < 1000             ? format_number(value, 4)
                                          : grouped(value, 1);
    };
    auto lines = system.ownership->lines;
    std::ranges::stable_sort(lines, std::greater<>{}, &plan::CostLine::monthly);
    for (const auto& line : lines) {
        table.add({line.what, exact(line.quantity), exact(line.unit_price),
                   line.capital ? grouped(line.amount, 0) : "", grouped(line.monthly, 0),
                   fmt::format("{:.1f} %", 100 * line.share),
                   assumed(system, line.input) ? "an assumption" : ""});
    }
    return table.text() + "\n";
}

std::string tornado_text(const plan::SystemCost& system) {
    if (system.tornado.empty()) return "";
    TextTable table({{"what matters most", Align::left},
                     {"low", Align::right},
                     {"here", Align::right},
                     {"high", Align::right},
                     {"$/useful h at low", Align::right},
                     {"at high", Align::right},
                     {"", Align::left}});
    int shown = 0;
    for (const auto& bar : system.tornado) {
        if (shown++ == kBarsShown) break;
        const auto input = std::ranges::find(system.inputs, bar.input, &catalog::Input::name);
        table.add({bar.input, format_number(bar.low), format_number(input->value),
                   format_number(bar.high), format_number(bar.at_low), format_number(bar.at_high),
                   assumed(system, bar.input) ? "assumption" : ""});
    }
    std::string text = table.text();
    const auto more = static_cast<int>(system.tornado.size()) - kBarsShown;
    if (more > 0) text += fmt::format("  and {} more that matter less (--format json)\n", more);
    return text + "\n";
}

std::string headline(const plan::SystemCost& system) {
    if (!system.deployment) return system.name + ", rented";
    const auto& d = *system.deployment;
    std::string text =
        fmt::format("{}: {} x {}, {} devices", system.name, d.servers, d.system.what, d.devices());
    return text + (d.network ? fmt::format(", network {}", d.network_name) : ", network quoted");
}

std::string published_text(const std::vector<plan::PublishedFigure>& published) {
    if (published.empty()) return "";
    TextTable table({{"published", Align::left},
                     {"theirs", Align::right},
                     {"here", Align::right},
                     {"within", Align::right},
                     {"", Align::left},
                     {"source", Align::left}});
    for (const auto& [figure, here, holds] : published) {
        table.add({figure.figure, exact_number(figure.value), format_number(here, 6),
                   exact_number(figure.within), holds ? "holds" : "DIFFERS",
                   figure.source + (figure.secondary ? " (secondary)" : "")});
    }
    return table.text() + "\n";
}

// ---------------------------------------------------------------------------------- JSON and CSV

Json to_json(const std::vector<CostFigure>& figures) {
    Json list = Json::array();
    for (const auto& f : figures) {
        list.push_back({{"section", f.section},
                        {"name", f.name},
                        {"value", json_number(f.value)},
                        {"unit", f.unit},
                        {"definition", f.definition}});
    }
    return list;
}

Json to_json(const catalog::Input& input) {
    Json json{{"name", input.name}, {"unit", input.unit}, {"value", json_number(input.value)}};
    if (!input.what.empty()) json["what"] = input.what;
    if (input.low) json["low"] = json_number(*input.low);
    if (input.high) json["high"] = json_number(*input.high);
    if (!input.range.empty()) json["range"] = input.range;
    if (!input.as_of.empty()) json["as_of"] = input.as_of;
    json["source"] = input.source;
    if (input.assumption) json["assumption"] = true;
    if (input.secondary) json["secondary"] = true;
    return json;
}

Json parts_json(const plan::Ownership& ownership) {
    Json list = Json::array();
    for (const auto& line : ownership.lines) {
        Json one{{"component", line.component},
                 {"what", line.what},
                 {"kind", line.capital ? "capital" : "monthly"},
                 {"quantity", json_number(line.quantity)},
                 {"unit_price", json_number(line.unit_price)},
                 {"amount", json_number(line.amount)},
                 {"per_month", json_number(line.monthly)},
                 {"share", json_number(line.share)}};
        if (!line.input.empty()) one["input"] = line.input;
        list.push_back(std::move(one));
    }
    return list;
}

Json to_json(const plan::SystemCost& system) {
    Json json{{"name", system.name}, {"bought", system.deployment.has_value()}};
    if (const auto& d = system.deployment) {
        json["servers"] = d->servers;
        json["devices"] = d->devices();
        json["network"] = d->network ? d->network_name : "quoted";
    }
    json["figures"] = to_json(system.figures);
    if (system.ownership) json["parts"] = parts_json(*system.ownership);
    Json bars = Json::array();
    for (const auto& bar : system.tornado) {
        bars.push_back({{"input", bar.input},
                        {"low", json_number(bar.low)},
                        {"high", json_number(bar.high)},
                        {"per_useful_hour_at_low", json_number(bar.at_low)},
                        {"per_useful_hour_at_high", json_number(bar.at_high)}});
    }
    json["tornado"] = std::move(bars);
    Json inputs = Json::array();
    for (const auto& input : system.inputs) inputs.push_back(to_json(input));
    json["inputs"] = std::move(inputs);
    return json;
}

const std::vector<std::string> kCsvHeader{"system", "section", "name", "value",
                                          "unit",   "low",     "high", "definition"};

std::string optional_number(const std::optional<double>& value) {
    return value ? csv_number(*value) : "";
}

void append_figures(std::string& out, const std::string& system,
                    const std::vector<CostFigure>& figures) {
    for (const auto& f : figures) {
        append_row(out, std::vector<std::string>{system, f.section, f.name, csv_number(f.value),
                                                 f.unit, "", "", f.definition});
    }
}

void append_input(std::string& out, const std::string& system, const catalog::Input& input) {
    append_row(
        out, std::vector<std::string>{
                 system, "input", input.name, csv_number(input.value), input.unit,
                 optional_number(input.low), optional_number(input.high),
                 fmt::format("{}{}{}", input.source, input.as_of.empty() ? "" : ", " + input.as_of,
                             input.assumption ? ", assumption" : "")});
}

}  // namespace

std::string cost_table(const plan::CostReport& report) {
    std::string text;
    if (!report.scenario.empty()) text += report.scenario + "\n\n";
    for (const auto& system : report.systems) {
        text += headline(system) + "\n\n" + figures_text(system.figures);
        if (system.ownership) text += parts_text(system);
        text += tornado_text(system);
    }
    return text + figures_text(report.comparison) + published_text(report.published);
}

Json cost_json(const plan::CostReport& report) {
    Json json = Json::object();
    if (!report.scenario.empty()) json["scenario"] = report.scenario;
    Json systems = Json::array();
    for (const auto& system : report.systems) systems.push_back(to_json(system));
    json["systems"] = std::move(systems);
    json["comparison"] = to_json(report.comparison);
    Json published = Json::array();
    for (const auto& [figure, here, holds] : report.published) {
        published.push_back({{"figure", figure.figure},
                             {"published", json_number(figure.value)},
                             {"here", json_number(here)},
                             {"within", json_number(figure.within)},
                             {"holds", holds},
                             {"source", figure.source},
                             {"secondary", figure.secondary}});
    }
    json["published"] = std::move(published);
    return json;
}

std::string cost_csv(const plan::CostReport& report) {
    std::string out;
    append_row(out, kCsvHeader);
    for (const auto& system : report.systems) {
        append_figures(out, system.name, system.figures);
        if (system.ownership) {
            for (const auto& line : system.ownership->lines) {
                append_row(out, std::vector<std::string>{system.name, "part", line.what,
                                                         csv_number(line.monthly), "$/month", "",
                                                         "", line.component});
            }
        }
        for (const auto& bar : system.tornado) {
            append_row(out, std::vector<std::string>{
                                system.name, "tornado", bar.input, csv_number(bar.effect()),
                                "$/useful device-hour", csv_number(bar.at_low),
                                csv_number(bar.at_high), "from the input's low to its high"});
        }
        for (const auto& input : system.inputs) append_input(out, system.name, input);
    }
    append_figures(out, "", report.comparison);
    for (const auto& [figure, here, holds] : report.published) {
        append_row(
            out, std::vector<std::string>{"", "published", figure.figure, csv_number(here), "",
                                          csv_number(figure.value - figure.within),
                                          csv_number(figure.value + figure.within), figure.source});
    }
    return out;
}

std::string prices_table(const catalog::Prices& prices) {
    TextTable systems({{"system", Align::left},
                       {"devices", Align::right},
                       {"what", Align::left},
                       {"network", Align::left}});
    for (const auto& [name, system] : prices.systems) {
        systems.add({name, std::to_string(system.devices), system.what, system.network});
    }
    TextTable networks({{"network", Align::left}, {"what", Align::left}});
    for (const auto& [name, network] : prices.networks) networks.add({name, network.what});
    TextTable inputs({{"input", Align::left},
                      {"value", Align::right},
                      {"unit", Align::left},
                      {"low", Align::right},
                      {"high", Align::right},
                      {"as of", Align::left},
                      {"what", Align::left},
                      {"source", Align::left}});
    for (const auto& [name, input] : prices.inputs) {
        inputs.add({name, exact_number(input.value), input.unit,
                    input.low ? exact_number(*input.low) : "",
                    input.high ? exact_number(*input.high) : "", input.as_of, input.what,
                    input.assumption ? "assumption" : input.source});
    }
    return fmt::format("prices and rates of {}\n\n{}\n{}\n{}", prices.file, systems.text(),
                       networks.text(), inputs.text());
}

Json prices_json(const catalog::Prices& prices) {
    Json systems = Json::array(), networks = Json::array(), inputs = Json::array();
    for (const auto& [name, system] : prices.systems) {
        systems.push_back({{"name", name},
                           {"what", system.what},
                           {"device", system.device},
                           {"devices", system.devices},
                           {"network", system.network}});
    }
    for (const auto& [name, network] : prices.networks) {
        networks.push_back({{"name", name}, {"what", network.what}});
    }
    for (const auto& [name, input] : prices.inputs) inputs.push_back(to_json(input));
    return {{"file", prices.file},
            {"systems", std::move(systems)},
            {"networks", std::move(networks)},
            {"inputs", std::move(inputs)}};
}

std::string prices_csv(const catalog::Prices& prices) {
    std::string out;
    append_row(out, kCsvHeader);
    for (const auto& [name, input] : prices.inputs) append_input(out, "", input);
    return out;
}

std::string network_table(const std::vector<CostFigure>& figures) {
    return figures_text(figures);
}

}  // namespace assay::report
