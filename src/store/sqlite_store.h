// The store in one SQLite file.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "store/store.h"

namespace assay::store {

// Makes the folders above the file. Waits up to `patience` when another process holds the file.
std::unique_ptr<Store> open_sqlite_store(
    const std::filesystem::path& path,
    std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace assay::store
