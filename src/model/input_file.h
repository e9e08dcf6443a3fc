// What a model is read from: files that a user names, which may be anything.
#pragma once

#include <filesystem>
#include <string>

namespace assay::model {

// A pipe would wait for a writer, and a device never end. Throws UsageError for what exists and is
// neither a regular file nor a link to one.
void expect_regular_file(const std::filesystem::path& file);
// A config or an index. Throws UsageError also for one that can't be read, or has over 64 MiB.
std::string read_small_file(const std::filesystem::path& file);

}  // namespace assay::model
