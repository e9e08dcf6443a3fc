// Wall-clock time as text, and monotonic time as seconds.
#pragma once

#include <string>

namespace assay {

// "2026-11-30T22:11:07Z"
std::string utc_now();

// Seconds on the steady clock; only differences have a meaning.
double monotonic_seconds();

}  // namespace assay
