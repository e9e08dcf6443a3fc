// Why a case failed or was skipped, as results hold it: an error's two lines in one.
#pragma once

#include <string>

namespace assay::suite {

inline std::string reason(const std::string& what, const std::string& hint) {
    return hint.empty() ? what : what + "; " + hint;
}

}  // namespace assay::suite
