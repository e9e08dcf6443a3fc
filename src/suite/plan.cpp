#include "suite/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/toml.h"
#include "base/units.h"
#include "measure/protocol.h"

namespace assay::suite {

namespace {

namespace fs = std::filesystem;

fs::path suites_dir() {
    return data_dir() / "suites";
}

// One suite file on its way to a plan; knows where each value stands.
class SuiteFile {
  public:
    explicit SuiteFile(const fs::path& path) : json_(load_toml(path, document_)) {}

    Plan plan() const {
        Plan plan;
        for (const auto& [key, value] : json_.items()) {
            const std::string at = "/" + key;
            if (key == "name") {
                plan.suite = word(value, at);
            } else if (key == "budget_s") {
                plan.budget_s = positive(value, at);
            } else if (key == "launches") {
                plan.launches = static_cast<int>(positive(value, at));
            } else if (key == "protocol") {
                plan.protocols = words(value, at);
                guarded(at, [&] {
                    for (const auto& name : plan.protocols) measure::parse_protocol(name);
                });
            } else if (key == "probe") {
                if (!value.is_array()) fail(at, "probe is written [[probe]]");
                for (std::size_t i = 0; i < value.size(); ++i) {
                    plan.steps.push_back(step(value[i], at + "/" + std::to_string(i)));
                }
            } else {
                unknown(at, "key", key, {"name", "budget_s", "launches", "protocol", "probe"});
            }
        }
        if (plan.suite.empty()) fail("", "the suite has no name");
        if (plan.steps.empty()) fail("", "the suite has no [[probe]]");
        return plan;
    }

  private:
    [[noreturn]] void fail(const std::string& at, const std::string& reason) const {
        throw UsageError(document_.place(at) + ": " + reason,
                         "docs/architecture.md shows what a suite file holds");
    }

    // Runs `parse` and puts the place in front of what it throws.
    template <class Parse>
    void guarded(const std::string& at, Parse parse) const {
        try {
            parse();
        } catch (const UsageError& error) {
            throw UsageError(document_.place(at) + ": " + error.what(), error.hint());
        }
    }

    [[noreturn]] void unknown(const std::string& at, std::string_view what, std::string_view word,
                              const std::vector<std::string>& known) const {
        try {
            throw_unknown(what, word, known);
        } catch (const UsageError& error) {
            throw UsageError(document_.place(at) + ": " + error.what(), error.hint());
        }
    }

    std::string word(const nlohmann::json& value, const std::string& at) const {
        if (!value.is_string()) fail(at, "a text in quotes is wanted");
        return value.get<std::string>();
    }

    double positive(const nlohmann::json& value, const std::string& at) const {
        if (!value.is_number() || value.get<double>() <= 0) fail(at, "a number above 0 is wanted");
        return value.get<double>();
    }

    // "a,b" or ["a", "b"], numbers too: as the command line would have it.
    std::vector<std::string> words(const nlohmann::json& value, const std::string& at) const {
        std::vector<std::string> list;
        if (!value.is_array()) return split(option_text(value, at), ',');
        for (std::size_t i = 0; i < value.size(); ++i) {
            list.push_back(option_text(value[i], at + "/" + std::to_string(i)));
        }
        return list;
    }

    std::string option_text(const nlohmann::json& value, const std::string& at) const {
        if (value.is_array()) return join(words(value, at), ",");
        if (value.is_string()) return value.get<std::string>();
        if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
        if (value.is_number()) return exact_number(value.get<double>());
        fail(at, "a text, a number or a list of them is wanted");
    }

    Step step(const nlohmann::json& entry, const std::string& at) const {
        if (!entry.contains("command")) fail(at, "a [[probe]] needs a command");
        const probes::Probe* probe = nullptr;
        guarded(at + "/command",
                [&] { probe = &probes::find_probe(word(entry["command"], at + "/command")); });
        Step step{probe, probes::Options(probe->options()), 1, false};
        for (const auto& [key, value] : entry.items()) {
            const std::string here = at + "/" + key;
            if (key == "command") continue;
            if (key == "weight") {
                step.weight = positive(value, here);
            } else if (key == "expected") {
                if (!value.is_boolean()) fail(here, "true or false is wanted");
                step.expected = value.get<bool>();
            } else {
                guarded(here, [&] { step.options.set(key, option_text(value, here)); });
            }
        }
        return step;
    }

    TomlDocument document_;
    nlohmann::json json_;
};

}  // namespace

std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(suites_dir())) {
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    return names;
}

Plan load_suite(std::string_view name_or_path) {
    if (name_or_path.find('/') != name_or_path.npos || name_or_path.ends_with(".toml")) {
        return SuiteFile(name_or_path).plan();
    }
    const auto known = suite_names();
    if (std::ranges::find(known, name_or_path) == known.end()) {
        throw_unknown("suite", name_or_path, known);
    }
    return SuiteFile(suites_dir() / (std::string(name_or_path) + ".toml")).plan();
}

}  // namespace assay::suite
