// The shipped catalog.
#pragma once

#include <filesystem>

#include "plan/target.h"

namespace assay::plan {

inline const std::vector<catalog::Accelerator>& shipped() {
    static const auto kRows = catalog::load_accelerators(std::filesystem::path(ASSAY_SOURCE_DIR) /
                                                         "data/accelerators.toml");
    return kRows;
}

inline Target target(std::string_view text) {
    return parse_targets(text, shipped()).at(0);
}

}  // namespace assay::plan
