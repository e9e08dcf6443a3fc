#include "plan/target.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "base/range.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::plan {

namespace {

constexpr std::int64_t kMostDevices = 131'072;
constexpr std::int64_t kServerSlots = 8;

bool all_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == text.npos;
}

// "80gb"; "sxm4", "nvl72", "oam2": what rows of many models have.
bool is_memory_size(std::string_view word) {
    const auto unit = word.find_first_not_of("0123456789");
    return unit != 0 && unit != word.npos &&
           (word.substr(unit) == "gb" || word.substr(unit) == "gib");
}

bool is_form_factor(std::string_view word) {
    return std::ranges::any_of(std::array{"sxm", "nvl", "pcie", "oam"}, [&](std::string_view form) {
        return word.starts_with(form) && all_digits(word.substr(form.size()));
    });
}

// The word that tells a model from others: "a100" of "NVIDIA A100 SXM4 80GB". A number alone
// belongs to the word before it.
std::string model_word(const catalog::Accelerator& row) {
    const auto words = split(device_word(row.name), '-');
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& word = words[i];
        if (word.find_first_of("0123456789") == word.npos) continue;
        if (is_memory_size(word) || is_form_factor(word)) continue;
        return all_digits(word) && i > 0 ? words[i - 1] : word;
    }
    return words.back();
}

bool has_words(const catalog::Accelerator& row, const std::vector<std::string>& wanted) {
    const auto words = split(device_word(row.name), '-');
    return std::ranges::all_of(wanted, [&](const std::string& word) {
        return std::ranges::find(words, word) != words.end();
    });
}

bool named(const catalog::Accelerator& row, const std::string& wanted) {
    if (device_word(row.name) == wanted) return true;
    const auto words = split(wanted, '-');
    return has_words(row, words) && std::ranges::find(words, model_word(row)) != words.end();
}

std::vector<std::string> model_words(const std::vector<catalog::Accelerator>& rows) {
    std::vector<std::string> names;
    for (const auto& row : rows) {
        auto word = model_word(row);
        if (std::ranges::find(names, word) == names.end()) names.push_back(std::move(word));
    }
    return names;
}

[[noreturn]] void throw_unknown_device(std::string_view name,
                                       const std::vector<catalog::Accelerator>& accelerators) {
    std::vector<std::string> meant;
    for (const auto& row : accelerators) {
        if (has_words(row, split(device_word(name), '-'))) meant.push_back(device_word(row.name));
    }
    if (!meant.empty()) {
        throw UsageError(fmt::format("device \"{}\" names no model", name),
                         "it might mean " + join(meant, ", "));
    }
    const auto names = model_words(accelerators);
    const auto near = nearest(name, names);
    throw UsageError(
        fmt::format("device \"{}\" is not in the catalog", name),
        (near.empty() ? "it has " + join(names, ", ") : fmt::format("did you mean \"{}\"?", near)) +
            "; to add one, copy data/accelerators.toml, add a row, and give --accelerators FILE");
}

Target parse_target(const std::string& text,
                    const std::vector<catalog::Accelerator>& accelerators) {
    Target target;
    target.text = text;
    std::string_view name = text;
    const auto digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (digits > 0 && digits < name.size() && (name[digits] == 'x' || name[digits] == 'X')) {
        target.count = parse_integer(name.substr(0, digits), "--on");
        name.remove_prefix(digits + 1);
        if (*target.count < 1 || *target.count > kMostDevices) {
            throw UsageError(
                fmt::format("{} devices of \"{}\" is out of range", *target.count, text),
                fmt::format("give 1 to {} devices, as 8xb200", kMostDevices));
        }
    }
    const auto wanted = device_word(name);
    bool found = false;
    for (const auto& row : accelerators) {
        if (!named(row, wanted)) continue;
        if (found) {
            target.alike.push_back(row.name);
        } else {
            target.device = row;
            found = true;
        }
    }
    if (!found) throw_unknown_device(name, accelerators);
    if (target.device.memory.empty()) {
        throw UsageError(fmt::format("the catalog has no memory of {}", target.device.name),
                         "copy data/accelerators.toml, add memory = [{ value = BYTES, source = "
                         "NAME }], and give --accelerators FILE");
    }
    return target;
}

}  // namespace

std::string device_word(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
    std::ranges::replace(result, ' ', '-');
    return result;
}

std::string Target::word() const {
    const auto whole = device_word(text);
    return count ? whole.substr(whole.find('x') + 1) : whole;
}

bool Target::per_node_assumed() const {
    return device.topology != "switched" && device.topology != "mesh";
}

std::int64_t Target::per_node() const {
    return per_node_assumed() ? kServerSlots : device.domain;
}

std::int64_t Target::nodes(std::int64_t devices) const {
    return (devices + per_node() - 1) / per_node();
}

std::vector<Target> parse_targets(std::string_view text,
                                  const std::vector<catalog::Accelerator>& accelerators) {
    std::vector<Target> targets;
    for (const auto& word : parse_words(text, "--on")) {
        targets.push_back(parse_target(word, accelerators));
    }
    return targets;
}

}  // namespace assay::plan
