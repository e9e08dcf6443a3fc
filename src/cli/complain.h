// What went wrong, on standard error: a line that names the thing, a line that says what to do.
#pragma once

#include <string>

namespace assay::cli {

// Never throws: the stream may be closed or full, and the exit status tells all the same.
void complain(const std::string& what, const std::string& hint) noexcept;

}  // namespace assay::cli
