// The shipped price file.
#pragma once

#include <filesystem>

#include "catalog/prices.h"

namespace assay::plan {

inline const catalog::Prices& shipped_prices() {
    static const auto kPrices =
        catalog::load_prices(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/prices.toml");
    return kPrices;
}

}  // namespace assay::plan
