// Lists that options may take from files: a case says them in words, and never opens a file.
#pragma once

#include <string>
#include <string_view>

namespace assay::probes {

// `mask` with document:FILE and blocks:SIZE:FILE as work::parse_mask() reads them: the lengths
// joined by /, and the file's lines. Throws UsageError for a file that can't be read or holds
// anything else.
std::string read_mask_lists(std::string_view mask);

// Lengths as they are, or those of a file joined by /. Throws UsageError as above.
std::string read_lengths(std::string_view given);

}  // namespace assay::probes
