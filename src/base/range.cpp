#include "base/range.h"

#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay {
namespace {

constexpr std::size_t kMostValues = 10'000;

[[noreturn]] void throw_range(std::string_view item, std::string_view reason,
                              std::string hint =
                                  "write first..last+step or first..last*factor: "
                                  "64..256+64, 16M..256M*2") {
    throw UsageError(fmt::format("range {:?} {}", item, reason), std::move(hint));
}

void append(std::vector<std::uint64_t>& values, std::uint64_t value, std::string_view text) {
    if (values.size() == kMostValues) {
        throw UsageError(fmt::format("list {:?} has over {} values", text, kMostValues),
                         "take a larger step or factor, or fewer items");
    }
    values.push_back(value);
}

void append_range(std::vector<std::uint64_t>& values, std::string_view item, std::size_t dots,
                  std::string_view text) {
    const auto rest = item.substr(dots + 2);
    const auto mark = rest.find_first_of("+*");
    if (mark == std::string_view::npos) throw_range(item, "has no step");

    const auto first = parse_size(item.substr(0, dots));
    const auto last = parse_size(rest.substr(0, mark));
    const auto advance = parse_size(rest.substr(mark + 1));
    if (last < first) throw_range(item, "ends before it starts");

    constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
    if (rest[mark] == '+') {
        if (advance == 0) throw_range(item, "has step 0");
        for (auto value = first;; value += advance) {
            append(values, value, text);
            if (advance > kMax - value || value + advance > last) break;
        }
    } else {
        if (advance < 2) throw_range(item, "has a factor below 2");
        if (first == 0) throw_range(item, "multiplies 0", "start from 1, or add a step");
        for (auto value = first;; value *= advance) {
            append(values, value, text);
            if (value > kMax / advance || value * advance > last) break;
        }
    }
}

}  // namespace

std::vector<std::uint64_t> parse_sizes(std::string_view text) {
    std::vector<std::uint64_t> values;
    for (const auto& word : parse_words(text, "size")) {
        const std::string_view item = word;
        if (const auto dots = item.find(".."); dots != std::string_view::npos) {
            append_range(values, item, dots, text);
        } else {
            append(values, parse_size(item), text);
        }
    }
    return values;
}

std::vector<std::string> parse_words(std::string_view text, std::string_view what) {
    std::vector<std::string> words;
    for (const auto& item : split(text, ',')) {
        const auto word = trim(item);
        if (word.empty()) {
            throw UsageError(fmt::format("{} list {:?} has an empty item", what, text),
                             "separate the items by single commas: a,b,c");
        }
        words.emplace_back(word);
    }
    return words;
}

}  // namespace assay
