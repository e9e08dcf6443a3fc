// Enumerations as the words that stand for them in JSON and on the command line.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace assay::record {

// `words` lists the words in the order of the enumerators. Throws UsageError naming `what`.
template <typename Enum, std::size_t N>
Enum enumerator_of(std::string_view word, const std::array<std::string_view, N>& words,
                   std::string_view what) {
    for (std::size_t i = 0; i < N; ++i) {
        if (words[i] == word) return static_cast<Enum>(i);
    }
    throw_unknown(what, word, std::vector<std::string>(words.begin(), words.end()));
}

template <typename Enum, std::size_t N>
std::string_view word_of(Enum value, const std::array<std::string_view, N>& words) {
    return words.at(static_cast<std::size_t>(value));
}

}  // namespace assay::record
