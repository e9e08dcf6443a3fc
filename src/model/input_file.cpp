#include "model/input_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"

namespace assay::model {
namespace {

namespace fs = std::filesystem;

// Over ten times the index of a checkpoint of 100,000 tensors.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;

}  // namespace

void expect_regular_file(const fs::path& file) {
    std::error_code error;
    const auto status = fs::status(file, error);
    if (!fs::exists(status) || fs::is_regular_file(status)) return;
    throw UsageError(fmt::format("{}: is no regular file", file.string()),
                     "name a file, or a folder that holds one; copy what comes from a pipe");
}

std::string read_small_file(const fs::path& file) {
    expect_regular_file(file);
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error && size > kMostBytes) {
        throw UsageError(fmt::format("{}: {} bytes are too many", file.string(), size),
                         fmt::format("a config.json or an index has up to {}", kMostBytes));
    }
    return read_input_file(file);
}

}  // namespace assay::model
