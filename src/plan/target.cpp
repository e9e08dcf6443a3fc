#include "plan/target.h"

#include <algorithm>
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

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
    std::ranges::replace(result, ' ', '-');
    return result;
}

bool named(const catalog::Accelerator& row, const std::string& wanted) {
    const auto name = lower(row.name);
    if (name == wanted) return true;
    const auto words = split(name, '-');
    return std::ranges::all_of(split(wanted, '-'), [&](const std::string& word) {
        return std::ranges::find(words, word) != words.end();
    });
}

// The words that tell rows apart, as people write them.
std::vector<std::string> short_names(const std::vector<catalog::Accelerator>& rows) {
    std::vector<std::string> names;
    for (const auto& row : rows) {
        for (const auto& word : split(lower(row.name), '-')) {
            const bool model =
                std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
            if (model && std::ranges::find(names, word) == names.end()) names.push_back(word);
        }
    }
    return names;
}

[[noreturn]] void throw_unknown_device(std::string_view name,
                                       const std::vector<catalog::Accelerator>& accelerators) {
    const auto names = short_names(accelerators);
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
    const auto wanted = lower(name);
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
