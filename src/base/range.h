// Lists and ranges on the command line: "16M,64M..256M*2", "8064..8320+64".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Comma list of items; an item is a value, `first..last+step` or `first..last*factor` (last is
// included when the steps meet it). Values are read by parse_size, so suffixes are allowed.
// Throws UsageError for an empty item, last < first, step 0, factor < 2, or over 10,000 values.
std::vector<std::uint64_t> parse_sizes(std::string_view text);

// Comma list of words, each non-empty. Throws UsageError naming `what`.
std::vector<std::string> parse_words(std::string_view text, std::string_view what);

}  // namespace assay
