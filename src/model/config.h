// A model from a Hugging Face config.json: its shape, and how its checkpoint stores it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantisation.h"
#include "model/transformer.h"

namespace assay::model {

struct Model {
    Transformer shape;
    Quantisation storage;
};

struct ConfigOptions {
    // Read a `model_type` that isn't known as the Llama-like decoder that its keys describe; the
    // shape's `assumed` says so. Else it is an error.
    bool assume = false;
    // A type for the weights in place of the config's: storage_named().
    std::string weights = {};
};

// `source` names the text in messages. The block scales of a quantised checkpoint are among the
// shape's extras. Throws UsageError, with the key and its other names, for what is missing, of
// another type or without meaning. A shipped config may have "_published": {"parameters",
// "source"}, its repository's own total: where `unknown` names parts, it gains how much they are
// together.
Model read_config(std::string_view text, std::string_view source,
                  const ConfigOptions& options = {});
// A file, or a folder that holds config.json; hf_quant_config.json beside it is read too. Throws
// UsageError also for what is no regular file, or has over 64 MiB.
Model load_config(const std::filesystem::path& path, const ConfigOptions& options = {});

// The shipped models: names of data/models/NAME.json, sorted.
std::vector<std::string> model_names();
// By name, else by path. Throws UsageError that lists the nearest names.
Model load_model(std::string_view name_or_path, const ConfigOptions& options = {});

}  // namespace assay::model
