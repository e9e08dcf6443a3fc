#include "base/text.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace assay {
namespace {

// By ASCII only: what the locale calls a letter must not matter.
std::string lower(std::string_view text) {
    std::string result(text);
    for (auto& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

// Levenshtein's distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string join(std::span<const std::string> words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n\v\f";
    const auto first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
    // Past a third of the letters two words have little to do with each other.
    auto best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    std::string best;
    for (const auto& candidate : known) {
        const auto distance = edit_distance(lower(word), lower(candidate));
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

void throw_unknown(std::string_view what, std::string_view word,
                   std::span<const std::string> known) {
    const auto near = nearest(word, known);
    throw UsageError(fmt::format("unknown {} {:?}", what, word),
                     near.empty() ? fmt::format("known: {}", join(known, ", "))
                                  : fmt::format("did you mean {:?}?", near));
}

}  // namespace assay
