// The layout of the store's file, and its way from one version to the next.
#pragma once

#include <span>

#include "store/sqlite_database.h"

namespace assay::store {

// Step i leads from version i to i + 1. Steps are only ever added.
std::span<const char* const> migration_steps();

// Makes an empty file a store, and brings one of an older version to the newest; all or nothing.
// Throws Error, and changes nothing, when the file belongs to another program or was written by a
// newer version.
void migrate(Database& database, std::span<const char* const> steps = migration_steps());

}  // namespace assay::store
