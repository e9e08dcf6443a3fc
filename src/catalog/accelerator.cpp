#include "catalog/accelerator.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "catalog/fact_file.h"
#include "catalog/source.h"

namespace assay::catalog {

namespace {

using nlohmann::json;

// fp4 has no operand type of ours yet; its peak is told all the same.
const std::vector<std::string> kTypes{"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4"};
const std::vector<std::string> kFlavours{"fn", "fnuz"};

class Reader {
  public:
    explicit Reader(const std::filesystem::path& path) : file_(path, json_) {}

    std::vector<Accelerator> accelerators() {
        file_.expect_keys("", json_, {"source", "unit", "accelerator"});
        sources_ = read_sources(file_, json_);
        for (const auto& [name, table] : file_.table(json_, "", "unit").items()) {
            units_[name] = unit(name, table, "/unit/" + name);
        }
        std::vector<Accelerator> rows;
        for (const auto& row : file_.array(json_, "", "accelerator")) {
            rows.push_back(accelerator(row, fmt::format("/accelerator/{}", rows.size())));
        }
        return rows;
    }

  private:
    // Of a figure or a unit.
    void read_source(const json& table, const std::string& at, std::string& source,
                     bool& secondary) const {
        const auto& named = named_source(file_, table, at, sources_);
        source = named.date.empty() ? named.text : fmt::format("{}, {}", named.text, named.date);
        secondary = named.secondary || file_.flag(table, at, "secondary");
    }

    Unit unit(const std::string& name, const json& table, const std::string& at) const {
        if (!table.is_object()) file_.fail(at, "unit is written [unit.NAME]");
        auto known = kTypes;
        known.insert(known.end(), {"e4m3", "source", "secondary"});
        file_.expect_keys(at, table, known);
        Unit unit;
        unit.name = name;
        for (const auto& type : kTypes) {
            if (table.contains(type)) unit.flop_per_cycle[type] = file_.number(table, at, type);
        }
        if (table.contains("e4m3")) unit.e4m3 = file_.word(table, at, "e4m3", kFlavours);
        read_source(table, at, unit.source, unit.secondary);
        return unit;
    }

    Figures figures(const json& table, const std::string& at, const std::string& key) const {
        Figures figures;
        if (!table.contains(key)) return figures;
        for (const auto& value : file_.array(table, at, key)) {
            const std::string here = fmt::format("{}/{}/{}", at, key, figures.size());
            if (!value.is_object()) file_.fail(here, "expected { value = NUMBER, source = NAME }");
            file_.expect_keys(here, value, {"value", "mhz", "source", "secondary"});
            Figure figure;
            figure.value = file_.number(value, here, "value");
            if (value.contains("mhz")) figure.mhz = file_.number(value, here, "mhz");
            read_source(value, here, figure.source, figure.secondary);
            figures.push_back(std::move(figure));
        }
        return figures;
    }

    std::pair<double, double> range(const json& row, const std::string& at) const {
        const std::string here = at + "/memory_range";
        const auto& pair = file_.array(row, at, "memory_range");
        if (pair.size() != 2) file_.fail(here, "expected [LEAST, MOST] bytes");
        const double least = file_.number(pair[0], here);
        const double most = file_.number(pair[1], here);
        if (least > most) file_.fail(here, "the least is above the most");
        return {least, most};
    }

    Accelerator accelerator(const json& row, const std::string& at) const {
        if (!row.is_object()) file_.fail(at, "accelerator is written [[accelerator]]");
        file_.expect_keys(
            at, row,
            {"name", "kind", "names", "architecture", "compute_units", "memory_range", "unit",
             "peak", "memory", "bandwidth", "link", "domain", "topology", "power"});
        Accelerator a;
        a.name = file_.text(row, at, "name");
        a.kind = file_.word(row, at, "kind", {"cuda", "hip"});
        a.names = file_.texts(row, at, "names");
        a.architecture = file_.text_or(row, at, "architecture", "");
        a.compute_units = file_.optional_integer(row, at, "compute_units");
        if (row.contains("memory_range")) a.memory_range = range(row, at);
        const auto unit_name = file_.text(row, at, "unit");
        const auto found = units_.find(unit_name);
        if (found == units_.end()) {
            file_.fail(at + "/unit", fmt::format("no [unit.{}]", unit_name));
        }
        a.unit = found->second;
        const auto& peaks = file_.table(row, at, "peak");
        file_.expect_keys(at + "/peak", peaks, kTypes);
        for (const auto& [type, value] : peaks.items()) {
            a.peak[type] = figures(peaks, at + "/peak", type);
        }
        a.memory = figures(row, at, "memory");
        a.bandwidth = figures(row, at, "bandwidth");
        a.link = figures(row, at, "link");
        a.power = figures(row, at, "power");
        a.domain = file_.optional_integer(row, at, "domain").value_or(1);
        if (row.contains("topology")) {
            a.topology = file_.word(row, at, "topology", {"switched", "mesh", "bridge"});
        }
        return a;
    }

    json json_;
    FactFile file_;
    Sources sources_;
    std::map<std::string, Unit> units_;
};

std::string architecture_of(const record::DeviceFacts& facts, const std::string& wanted) {
    const auto capability = facts.facts.find("compute_capability");
    if (capability != facts.facts.end()) return capability->second;
    return std::ranges::find(facts.features, wanted) == facts.features.end() ? "" : wanted;
}

// Properties that a row gives must all fit; a row without an architecture goes by name only.
bool properties_fit(const Accelerator& row, const record::DeviceFacts& facts) {
    if (row.architecture.empty() || architecture_of(facts, row.architecture) != row.architecture) {
        return false;
    }
    if (row.compute_units && *row.compute_units != facts.compute_units_total) return false;
    if (!row.memory_range) return false;
    const auto bytes = static_cast<double>(facts.memory_bytes);
    return row.memory_range->first <= bytes && bytes <= row.memory_range->second;
}

}  // namespace

std::string disagreement(const Figures& figures, double scale) {
    if (figures.size() < 2) return "";
    const auto [least, most] = std::ranges::minmax(figures, {}, &Figure::value);
    return fmt::format("sources differ: {} to {}", exact_number(least.value / scale),
                       exact_number(most.value / scale));
}

std::vector<std::string> Accelerator::contradictions() const {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& what, const Figures& figures, double scale,
                         const char* unit_text) {
        if (figures.size() < 2) return;
        std::vector<std::string> values;
        for (const auto& figure : figures) {
            values.push_back(fmt::format("{} {} ({})", exact_number(figure.value / scale),
                                         unit_text, figure.source));
        }
        lines.push_back(what + ": " + join(values, ", "));
    };
    for (const auto& [type, figures] : peak) add(type + " peak", figures, 1e12, "TFLOP/s");
    add("memory", memory, 1e9, "GB");
    add("memory bandwidth", bandwidth, 1e9, "GB/s");
    add("link", link, 1e9, "GB/s");
    add("power", power, 1, "W");
    return lines;
}

std::vector<Accelerator> load_accelerators(const std::filesystem::path& file) {
    return Reader(file).accelerators();
}

Found find_accelerator(const std::vector<Accelerator>& accelerators,
                       const record::DeviceFacts& facts) {
    std::vector<const Accelerator*> by_properties;
    for (const auto& row : accelerators) {
        if (row.kind != facts.kind) continue;
        if (std::ranges::find(row.names, facts.name) != row.names.end()) return {&row, "by name"};
        if (properties_fit(row, facts)) by_properties.push_back(&row);
    }
    if (by_properties.size() == 1) {
        return {by_properties[0],
                fmt::format("its name isn't known; by architecture {}, {} compute units and {}",
                            by_properties[0]->architecture, facts.compute_units_total,
                            format_bytes(static_cast<double>(facts.memory_bytes)))};
    }
    std::vector<std::string> names;
    for (const auto* row : by_properties) names.push_back(row->name);
    return {nullptr, names.empty()
                         ? fmt::format("\"{}\" isn't in data/accelerators.toml", facts.name)
                         : fmt::format("\"{}\" may be {}", facts.name, join(names, " or "))};
}

std::optional<std::string> catalog_type(const std::string& operand_type, const std::string& e4m3) {
    if (!operand_type.starts_with("fp8_")) return operand_type;
    const bool fnuz = operand_type.ends_with("fnuz");
    if (e4m3.empty() || fnuz != (e4m3 == "fnuz")) return std::nullopt;
    return "fp8";
}

}  // namespace assay::catalog
