// Files and folders. Every failure is an Error that names the path and the system's reason.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

std::string read_file(const std::filesystem::path& path);
// The same for a file that the user named: one that can't be read is a UsageError.
std::string read_input_file(const std::filesystem::path& path);

// Writes beside `path` and renames, so that a full disk or a crash never costs the earlier file.
// "-" is standard output; a path that exists and is no regular file is written in place.
void write_file(const std::filesystem::path& path, std::string_view content);
// Throws what write_file would, as far as that can be known before there is anything to write.
void check_writable(const std::filesystem::path& path);

// $XDG_DATA_HOME/assay or ~/.local/share/assay.
std::filesystem::path user_data_dir();
// $XDG_CACHE_HOME/assay or ~/.cache/assay.
std::filesystem::path user_cache_dir();

// The running program itself.
std::filesystem::path program_path();
// Shipped facts and suites: ASSAY_DATA_DIR, else `share/assay` beside the program's bin/, else the
// source tree's data/ when run from a build folder. Throws Error when none exists.
std::filesystem::path data_dir();

}  // namespace assay
