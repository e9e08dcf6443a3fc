#include "model/checkpoint.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "model/counts.h"
#include "model/safetensors.h"

namespace assay::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = ".safetensors.index.json";
constexpr std::string_view kFile = ".safetensors";

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
    throw UsageError(fmt::format("{}: {}", path.string(), reason),
                     "the checkpoint isn't whole: take it again from its repository");
}

Json parse(const fs::path& path) {
    try {
        auto json = parse_json(read_input_file(path), path.string());
        if (!json.is_object()) fail(path, "the index is no JSON object");
        return json;
    } catch (const UsageError&) {
        throw;
    } catch (const Error& e) {
        throw UsageError(e.what(), e.hint());
    }
}

void add_file(const fs::path& file, std::set<std::string>& names, Checkpoint& checkpoint) {
    for (const auto& tensor : read_safetensors(file)) {
        if (!names.insert(tensor.name).second) {
            fail(file, fmt::format("tensor \"{:.80}\" is in another file too", tensor.name));
        }
        const auto bytes = static_cast<double>(tensor.end - tensor.begin);
        checkpoint.bytes += bytes;
        checkpoint.bytes_by_dtype[tensor.dtype] += bytes;
        checkpoint.elements = checkpoint.elements.value_or(0) + tensor.elements();
        checkpoint.tensors = checkpoint.tensors.value_or(0) + 1;
    }
}

// The files that an index names.
std::set<fs::path> files_of(const Json& index, const fs::path& path) {
    if (!index.contains("weight_map") || !index["weight_map"].is_object()) {
        fail(path, "\"weight_map\" is missing");
    }
    std::set<fs::path> files;
    for (const auto& [tensor, file] : index["weight_map"].items()) {
        // A name with a folder would lead out of the checkpoint's.
        if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos) {
            fail(path, fmt::format("tensor \"{:.80}\" has no file's name", tensor));
        }
        files.insert(path.parent_path() / file.get<std::string>());
    }
    return files;
}

Checkpoint read_index(const fs::path& path) {
    const auto index = parse(path);
    const auto files = files_of(index, path);
    Checkpoint checkpoint{.source = path.string()};
    const auto there = [](const fs::path& file) { return fs::exists(file); };
    if (std::ranges::any_of(files, there)) {
        std::set<std::string> names;
        for (const auto& file : files) {
            if (!there(file)) {
                throw UsageError(
                    fmt::format("{}: {} is missing", path.string(), file.filename().string()),
                    "fetch the missing file, or keep the index alone");
            }
            add_file(file, names, checkpoint);
        }
        return checkpoint;
    }
    const auto total = index.contains("metadata") && index["metadata"].is_object() &&
                               index["metadata"].contains("total_size")
                           ? number_of(index["metadata"]["total_size"])
                           : 0;
    if (!(total > 0)) fail(path, "\"metadata.total_size\" is missing");
    checkpoint.bytes = total;
    checkpoint.tensors = static_cast<std::int64_t>(index["weight_map"].size());
    return checkpoint;
}

std::vector<fs::path> ending_in(const fs::path& folder, std::string_view suffix) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().ends_with(suffix)) found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
}

bool packs(const Quantisation& storage) {
    return std::ranges::any_of(storage.rules, [](const Rule& r) { return r.format.bits < 8; });
}

}  // namespace

Checkpoint read_checkpoint(const fs::path& path) {
    if (fs::is_directory(path)) {
        const auto indices = ending_in(path, kIndex);
        if (!indices.empty()) return read_index(indices.front());
        Checkpoint checkpoint{.source = path.string()};
        std::set<std::string> names;
        for (const auto& file : ending_in(path, kFile)) add_file(file, names, checkpoint);
        if (names.empty()) {
            throw UsageError(fmt::format("{}: no *.safetensors file in it", path.string()),
                             "name the folder of a checkpoint, one of its files, or its index");
        }
        return checkpoint;
    }
    if (path.filename().string().ends_with(kIndex)) return read_index(path);
    Checkpoint checkpoint{.source = path.string()};
    std::set<std::string> names;
    add_file(path, names, checkpoint);
    return checkpoint;
}

std::optional<std::int64_t> Comparison::parameters_difference() const {
    if (packed || !stored_elements) return std::nullopt;
    return *stored_elements - config_parameters;
}

Comparison compare(const Model& model, const Checkpoint& checkpoint) {
    return {.config_bytes = weight_bytes(model.shape, model.storage).total(),
            .stored_bytes = checkpoint.bytes,
            .config_parameters = count(model.shape).everything(),
            .stored_elements = checkpoint.elements,
            .packed = packs(model.storage)};
}

}  // namespace assay::model
