// Small helpers on words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> words, std::string_view separator);
std::string_view trim(std::string_view text);

// The known word nearest to `word` by edit distance, or "" when none is near.
std::string nearest(std::string_view word, std::span<const std::string> known);

// UsageError saying `unknown WHAT "word"`, with the nearest known word, or all of them, as hint.
[[noreturn]] void throw_unknown(std::string_view what, std::string_view word,
                                std::span<const std::string> known);

}  // namespace assay
