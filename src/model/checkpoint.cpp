#include "model/checkpoint.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "model/counts.h"
#include "model/input_file.h"
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
        auto json = parse_json(read_small_file(path), path.string());
        if (!json.is_object()) fail(path, "the index is no JSON object");
        return json;
    } catch (const UsageError&) {
        throw;
    } catch (const Error& e) {
        throw UsageError(e.what(), e.hint());
    }
}

// The file that each tensor was found in.
using Found = std::map<std::string, fs::path>;

void add_file(const fs::path& file, Found& found, Checkpoint& checkpoint) {
    for (const auto& tensor : read_safetensors(file)) {
        if (!found.emplace(tensor.name, file).second) {
            fail(file, fmt::format("tensor \"{:.80}\" is in another file too", tensor.name));
        }
        const auto bytes = static_cast<double>(tensor.end - tensor.begin);
        checkpoint.bytes += bytes;
        checkpoint.bytes_by_dtype[tensor.dtype] += bytes;
        checkpoint.elements = checkpoint.elements.value_or(0) + tensor.elements();
        checkpoint.tensors = checkpoint.tensors.value_or(0) + 1;
    }
}

using Files = std::map<fs::path, std::vector<std::string>>;

// The files that an index names, with the tensors that it puts into each.
Files files_of(const Json& index, const fs::path& path) {
    if (!index.contains("weight_map") || !index["weight_map"].is_object()) {
        fail(path, "\"weight_map\" is missing");
    }
    Files files;
    for (const auto& [tensor, file] : index["weight_map"].items()) {
        // A name with a folder would lead out of the checkpoint's.
        if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos) {
            fail(path, fmt::format("tensor \"{:.80}\" has no file's name", tensor));
        }
        files[path.parent_path() / file.get<std::string>()].push_back(tensor);
    }
    return files;
}

// Bytes of all tensors as the index says, 0 where it doesn't.
double total_of(const Json& index) {
    const bool told = index.contains("metadata") && index["metadata"].is_object() &&
                      index["metadata"].contains("total_size");
    return told ? number_of(index["metadata"]["total_size"]) : 0;
}

void add_files(const Files& files, const fs::path& index, Checkpoint& checkpoint) {
    Found found;
    for (const auto& [file, tensors] : files) {
        if (!fs::exists(file)) {
            throw UsageError(
                fmt::format("{}: {} is missing", index.string(), file.filename().string()),
                "fetch the missing file, or keep the index alone");
        }
        add_file(file, found, checkpoint);
    }
    for (const auto& [file, tensors] : files) {
        for (const auto& tensor : tensors) {
            const auto at = found.find(tensor);
            if (at != found.end() && at->second == file) continue;
            fail(index,
                 fmt::format("tensor \"{:.80}\" isn't in {}", tensor, file.filename().string()));
        }
    }
}

Checkpoint read_index(const fs::path& path) {
    const auto index = parse(path);
    const auto files = files_of(index, path);
    Checkpoint checkpoint{.source = path.string()};
    const auto total = total_of(index);
    const auto there = [](const auto& file) { return fs::exists(file.first); };
    if (std::ranges::any_of(files, there)) {
        add_files(files, path, checkpoint);
        if (total > 0 && total != checkpoint.bytes) {
            checkpoint.source +=
                fmt::format(" (its files; its own \"total_size\" is {:.0f})", total);
        }
        return checkpoint;
    }
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
        Found found;
        for (const auto& file : ending_in(path, kFile)) add_file(file, found, checkpoint);
        if (found.empty()) {
            throw UsageError(fmt::format("{}: no *.safetensors file in it", path.string()),
                             "name the folder of a checkpoint, one of its files, or its index");
        }
        return checkpoint;
    }
    if (path.filename().string().ends_with(kIndex)) return read_index(path);
    Checkpoint checkpoint{.source = path.string()};
    Found found;
    add_file(path, found, checkpoint);
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
