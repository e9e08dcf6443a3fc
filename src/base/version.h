// What this program is.
#pragma once

#include <string_view>

namespace assay {

std::string_view version();  // "0.1.0"
std::string_view build();    // "Release, GNU 12.2.0"

// Modules built against another number are refused. Raise it when a class or struct that crosses
// the boundary between core and modules changes (device/, ops/, record/, work/, base/error.h).
inline constexpr int kModuleAbi = 2;

}  // namespace assay
