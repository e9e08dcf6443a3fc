#include "cli/complain.h"

#include <cstdio>

namespace assay::cli {

void complain(const std::string& what, const std::string& hint) noexcept {
    std::fprintf(stderr, "assay: %s\n", what.c_str());
    if (!hint.empty()) std::fprintf(stderr, "       %s\n", hint.c_str());
}

}  // namespace assay::cli
