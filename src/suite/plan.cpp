#include "suite/plan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/range.h"
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
    SuiteFile(std::string_view text, const std::string& source)
        : json_(parse_toml(text, source, document_)) {}

    Plan plan() const {
        Plan plan;
        for (const auto& [key, value] : json_.items()) {
            const std::string at = "/" + key;
            if (key == "name") {
                plan.suite = word(value, at);
            } else if (key == "budget_s") {
                plan.budget = budget(value, at);
            } else if (key == "launches") {
                plan.launches = launches(value, at);
            } else if (key == "protocol") {
                const auto text = option_text(value, at);
                guarded(at, [&] {
                    plan.protocols = parse_words(text, key);
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
        const double number = value.is_number() ? value.get<double>() : 0;
        if (number > 0 && std::isfinite(number)) return number;
        fail(at, "a number above 0 is wanted");
    }

    // A number for any device, or a table that tells the kinds of device apart.
    TimeBudget budget(const nlohmann::json& value, const std::string& at) const {
        TimeBudget budget;
        if (!value.is_object()) {
            budget.cpu_s = budget.accelerator_s = positive(value, at);
            return budget;
        }
        for (const auto& [kind, seconds] : value.items()) {
            const auto here = at + "/" + kind;
            const bool cpu = where(kind, here) == Where::cpu;
            (cpu ? budget.cpu_s : budget.accelerator_s) = positive(seconds, here);
        }
        return budget;
    }

    // Not by the nearest word: that of "gpu" would be "cpu".
    Where where(const std::string& kind, const std::string& at) const {
        if (kind == "cpu") return Where::cpu;
        if (kind == "accelerator") return Where::accelerator;
        fail(at, fmt::format("\"{}\" is neither cpu nor accelerator", kind));
    }

    int launches(const nlohmann::json& value, const std::string& at) const {
        const bool fits = value.is_number_integer() && value.get<std::int64_t>() >= 1 &&
                          value.get<std::int64_t>() <= kMostLaunches;
        if (!fits) fail(at, fmt::format("a whole number of 1 to {} is wanted", kMostLaunches));
        return value.get<int>();
    }

    // As the command line would have it: "a,b" for ["a", "b"], numbers as they are.
    std::string option_text(const nlohmann::json& value, const std::string& at) const {
        if (value.is_string()) return value.get<std::string>();
        if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
        if (value.is_number()) return exact_number(value.get<double>());
        if (!value.is_array()) fail(at, "a text, a number or a list of them is wanted");
        std::vector<std::string> list;
        for (std::size_t i = 0; i < value.size(); ++i) {
            list.push_back(option_text(value[i], at + "/" + std::to_string(i)));
        }
        return join(list, ",");
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
            } else if (key == "on") {
                step.on = where(word(value, here), here);
            } else {
                const auto text = option_text(value, here);
                guarded(here, [&] { step.options.set(key, text); });
            }
        }
        // What has no meaning on any device is said with its place, before one is opened.
        guarded(at, [&] { probe->expand(step.options, {}); });
        return step;
    }

    TomlDocument document_;
    nlohmann::json json_;
};

}  // namespace

bool runs_on(const Step& step, const record::DeviceFacts& device) {
    if (step.on == Where::anywhere) return true;
    return is_accelerator(device) == (step.on == Where::accelerator);
}

double TimeBudget::on(const record::DeviceFacts& device) const {
    return is_accelerator(device) ? accelerator_s : cpu_s;
}

std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(suites_dir())) {
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    return names;
}

Plan parse_suite(std::string_view text, const std::string& source) {
    return SuiteFile(text, source).plan();
}

Plan load_suite(std::string_view name_or_path) {
    const auto load = [](const fs::path& path) {
        return parse_suite(read_input_file(path), path.string());
    };
    if (name_or_path.find('/') != name_or_path.npos || name_or_path.ends_with(".toml")) {
        return load(name_or_path);
    }
    const auto known = suite_names();
    if (std::ranges::find(known, name_or_path) == known.end()) {
        throw_unknown("suite", name_or_path, known);
    }
    return load(suites_dir() / (std::string(name_or_path) + ".toml"));
}

}  // namespace assay::suite
