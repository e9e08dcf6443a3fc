#include "catalog/scenario.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "catalog/fact_file.h"

namespace assay::catalog {

namespace {

using nlohmann::json;

// As it would be written on the command line.
std::string option_text(const FactFile& file, const json& value, const std::string& at) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
    if (value.is_number()) return exact_number(value.get<double>());
    if (!value.is_array()) file.fail(at, "expected a word, a number or a list of words");
    std::vector<std::string> words;
    for (const auto& word : value) words.push_back(option_text(file, word, at));
    return join(words, ",");
}

ScenarioFigure figure(const FactFile& file, const json& row, const std::string& at,
                      const Sources& sources) {
    if (!row.is_object()) file.fail(at, "a published figure is written [[published]]");
    file.expect_keys(at, row, {"figure", "value", "within", "source"});
    ScenarioFigure figure;
    figure.figure = file.text(row, at, "figure");
    figure.value = file.number(row, at, "value");
    figure.within = file.number(row, at, "within");
    const auto& source = named_source(file, row, at, sources);
    figure.source = source.text;
    figure.secondary = source.secondary;
    return figure;
}

}  // namespace

Scenario load_scenario(const std::filesystem::path& path) {
    json root;
    const FactFile file(path, root);
    file.expect_keys("", root, {"what", "source", "options", "input", "published"});
    const auto sources = read_sources(file, root);
    Scenario scenario;
    scenario.what = file.text(root, "", "what");
    for (const auto& [name, value] : file.table(root, "", "options").items()) {
        scenario.options[name] = option_text(file, value, "/options/" + name);
    }
    if (root.contains("input")) scenario.inputs = read_inputs(file, root, sources);
    if (root.contains("published")) {
        for (const auto& row : file.array(root, "", "published")) {
            scenario.published.push_back(figure(
                file, row, fmt::format("/published/{}", scenario.published.size()), sources));
        }
    }
    return scenario;
}

std::filesystem::path find_scenario(const std::string& name, const std::filesystem::path& folder) {
    if (name.ends_with(".toml")) return name;
    auto file = folder / (name + ".toml");
    if (std::filesystem::exists(file)) return file;
    std::vector<std::string> known;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".toml") known.push_back(entry.path().stem().string());
    }
    std::ranges::sort(known);
    throw_unknown("scenario", name, known);
}

}  // namespace assay::catalog
