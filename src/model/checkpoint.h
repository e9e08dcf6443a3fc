// What a checkpoint really holds, from the headers of its safetensors files or from its index: to
// be compared with what the config.json says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "model/config.h"

namespace assay::model {

struct Checkpoint {
    std::string source;
    double bytes = 0;
    std::optional<std::int64_t> elements =
        {};  // none: an index without its files tells bytes alone
    std::optional<std::int64_t> tensors = {};
    std::map<std::string, double> bytes_by_dtype = {};
};
// A .safetensors file, a .safetensors.index.json, or a folder with either. With an index, the files
// that it names are read where they are there. Throws UsageError where there is nothing to read, a
// file of the index is missing beside others or lacks a tensor that the index puts there, or two
// files hold one tensor. Where the index's own sum isn't the files', `source` says so.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// The config's count beside the files'.
struct Comparison {
    double config_bytes = 0, stored_bytes = 0;
    std::int64_t config_parameters = 0;           // with predictors and extras
    std::optional<std::int64_t> stored_elements;  // as packed, so fewer than parameters
    bool packed = false;                          // several parameters to an element
    double bytes_difference() const { return stored_bytes - config_bytes; }
    std::optional<std::int64_t> parameters_difference() const;  // none when packed or not known
};
Comparison compare(const Model& model, const Checkpoint& checkpoint);

}  // namespace assay::model
