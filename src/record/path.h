// Which path ran: part of a result, since a silent fallback is the commonest false number.
#pragma once

#include <string_view>

namespace assay::record {

enum class Path {
    unknown,
    fast,      // the vendor's or an architecture's own kernel
    portable,  // our generic kernel; nothing faster exists
    fallback,  // a faster path exists or was asked for, and did not take the case
    emulated,  // the type isn't native to the device
};

std::string_view name(Path path);
Path parse_path(std::string_view word);  // throws Error

}  // namespace assay::record
