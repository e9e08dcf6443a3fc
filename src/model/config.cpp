#include "model/config.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "model/config_keys.h"
#include "model/counts.h"
#include "model/decoder.h"
#include "model/family.h"
#include "model/input_file.h"
#include "model/quantisation_config.h"
#include "model/vision.h"

namespace assay::model {
namespace {

namespace fs = std::filesystem;

// Where models of text and more keep the language model's keys.
constexpr std::array kNested{"text_config", "llm_config", "language_config", "language_model"};

Json parse(std::string_view text, std::string_view source) {
    try {
        return parse_json(text, source);
    } catch (const Error& e) {
        throw UsageError(e.what(), e.hint());
    }
}

std::string nested_name(const Keys& root) {
    for (const auto* name : kNested) {
        if (const auto* table = root.find({name}); table != nullptr && table->is_object()) {
            return name;
        }
    }
    return "";
}

std::string type_of(const Keys& keys) {
    return keys.text_or({"model_type"}, "");
}

struct Named {
    std::string type;
    const Family* family = nullptr;
};

// By the language model's own type, else the whole's.
Named family_of(const Keys& root, const Keys& text) {
    Named named{type_of(text), find_family(type_of(text))};
    if (named.family == nullptr) {
        if (const auto* family = find_family(type_of(root))) return {type_of(root), family};
    }
    if (named.type.empty()) named.type = type_of(root);
    return named;
}

constexpr auto kAssumption =
    "a decoder as Llama's: a norm before attention and before the feed-forward part, a gated "
    "feed-forward, no biases but those the config names";

[[noreturn]] void throw_unknown_type(const Keys& root, const std::string& type) {
    if (type.empty()) {
        throw UsageError(fmt::format("{}: \"model_type\" is missing", root.source()),
                         fmt::format("--assume reads it as {}", kAssumption));
    }
    const auto near = nearest(type, family_types());
    throw UsageError(fmt::format("{}: unknown \"model_type\" \"{:.60}\"{}", root.source(), type,
                                 near.empty() ? "" : fmt::format(", did you mean \"{}\"?", near)),
                     fmt::format("--assume reads it as {}", kAssumption));
}

void add_scales(Model& model) {
    std::int64_t main = 0, predictors = 0;
    const auto count = [&](const std::vector<Tensor>& tensors, std::int64_t& to) {
        for (const auto& tensor : tensors) to += scale_elements(model.storage, tensor);
    };
    count(model.shape.input, main);
    count(model.shape.output, main);
    for (const auto& layer : model.shape.layers) count(layer.tensors, main);
    for (const auto& layer : model.shape.predictors) count(layer.tensors, predictors);
    if (main > 0) model.shape.extras.push_back({"block scales", main, true});
    if (predictors > 0) {
        model.shape.extras.push_back({"block scales of the predicting layers", predictors, true});
    }
}

constexpr auto kQuantisationBeside = "hf_quant_config.json";

// Some tools write how they quantised into a file of its own and leave the config as it was.
void note_named_quantisation(Model& model) {
    if (!model.storage.rules.empty()) return;
    std::string name;
    for (const char c : model.shape.name) {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    constexpr std::array kTypes{"nvfp4", "mxfp4", "fp8", "int8", "int4"};
    for (const auto* type : kTypes) {
        if (name.find(type) == std::string::npos) continue;
        model.shape.unknown.push_back(
            fmt::format("the quantisation that its name tells of: it is in {}, which isn't here; "
                        "{} is taken, --weights {} takes another",
                        kQuantisationBeside, model.storage.name, type));
        return;
    }
}

// What the repository publishes as its total, beside what the config lets count. Of a checkpoint
// whose parts are all known they are the same.
void note_uncounted(const Keys& root, Model& model) {
    if (!root.has({"_published"}) || model.shape.unknown.empty()) return;
    const auto published = root.table("_published");
    const auto total = published.integer({"parameters"}, {1, std::int64_t{1} << 50});
    const auto counted = count(model.shape).everything();
    if (counted >= total) return;
    model.shape.unknown.push_back(fmt::format("{} of {} parameters ({})", total - counted, total,
                                              published.text_or({"source"}, "as published")));
}

}  // namespace

Model read_config(std::string_view text, std::string_view source, const ConfigOptions& options) {
    const Keys root(parse(text, source), std::string(source));
    const auto nested = nested_name(root);
    const Keys plain = nested.empty() ? root : root.table(nested);
    auto [type, family] = family_of(root, plain);
    Model model;
    if (family == nullptr) {
        if (!options.assume) throw_unknown_type(root, type);
        family = &generic_family();
        model.shape.assumed.push_back(fmt::format("\"{:.60}\" is read as {}", type, kAssumption));
    }
    const Keys keys(plain.json(), std::string(source), nested.empty() ? "" : nested + ".",
                    Json::parse(family->defaults));

    auto assumed = std::move(model.shape.assumed);
    model.shape = make_decoder(root, keys, *family);
    model.shape.assumed = std::move(assumed);
    model.shape.architecture = type;
    model.shape.name = root.text_or({"_name_or_path"}, "");
    add_vision(root, model.shape);
    model.storage = options.weights.empty() ? read_quantisation(root, keys, model.shape.unknown)
                                            : storage_named(options.weights);
    add_scales(model);
    if (options.weights.empty()) note_uncounted(root, model);
    return model;
}

Model load_config(const fs::path& path, const ConfigOptions& options) {
    const bool folder = fs::is_directory(path);
    const auto file = folder ? path / "config.json" : path;
    auto text = read_small_file(file);
    const auto beside = file.parent_path() / kQuantisationBeside;
    if (fs::exists(beside)) {
        auto config = parse(text, file.string());
        const auto extra = parse(read_small_file(beside), beside.string());
        if (config.is_object() && !config.contains("quantization_config") && extra.is_object() &&
            extra.contains("quantization")) {
            config["quantization"] = extra["quantization"];
            text = dump_line(config);
        }
    }
    auto model = read_config(text, file.string(), options);
    if (model.shape.name.empty()) {
        model.shape.name = folder ? fs::absolute(path).lexically_normal().filename().string()
                                  : file.stem().string();
    }
    if (options.weights.empty()) note_named_quantisation(model);
    return model;
}

std::vector<std::string> model_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(data_dir() / "models")) {
        if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    return names;
}

Model load_model(std::string_view name_or_path, const ConfigOptions& options) {
    const auto names = model_names();
    if (std::ranges::find(names, name_or_path) != names.end()) {
        const auto file = data_dir() / "models" / (std::string(name_or_path) + ".json");
        auto model = load_config(file, options);
        model.shape.name = name_or_path;
        return model;
    }
    if (fs::exists(fs::path(name_or_path))) return load_config(name_or_path, options);
    throw_unknown("model", name_or_path, names);
}

}  // namespace assay::model
