#include "model/quantisation_config.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::model {
namespace {

constexpr auto kRoutedExperts = ".*\\.experts\\..*";

// Names of modules that stay as they are, by the ways libraries spell their lists.
void ignore_parts(const Keys& config, Names names, Quantisation& storage) {
    for (const auto& word : config.words(names)) {
        storage.ignored.push_back(NamePattern::parts(word));
    }
}

void ignore_or_match(const std::vector<std::string>& words, std::vector<NamePattern>& to) {
    constexpr std::string_view kExpression = "re:";
    for (const auto& word : words) {
        to.push_back(word.starts_with(kExpression)
                         ? NamePattern::expression(word.substr(kExpression.size()))
                         : NamePattern::ending(word));
    }
}

std::string lower(std::string text) {
    for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// transformers' own FP8: blocks of weight_block_size, or one for the whole matrix. Scales are FP32,
// those that are powers of two (ue8m0) too.
void read_fp8(const Keys& config, Quantisation& storage) {
    const auto block = config.integers({"weight_block_size"}, {1, 1 << 20});
    if (!block.empty() && block.size() != 2) config.fail("weight_block_size", "isn't two sizes");
    const bool exponents = config.text_or({"scale_fmt"}, "") == "ue8m0";
    Format format{"fp8", 8, {{0, 0, 32}}};
    if (!block.empty()) {
        format = {fmt::format("fp8 {}x{}", block[0], block[1]), 8, {{block[0], block[1], 32}}};
    }
    storage.name = exponents ? format.name + " ue8m0" : format.name;
    storage.rules.push_back({format, {}});
    ignore_parts(config, {"modules_to_not_convert", "ignored_layers"}, storage);
}

void read_mxfp4(const Keys& config, Quantisation& storage) {
    storage.name = "mxfp4";
    storage.rules.push_back({format_named("mxfp4"), {NamePattern::expression(kRoutedExperts)}});
    ignore_parts(config, {"modules_to_not_convert"}, storage);
}

// GPTQ: an FP16 scale and a packed zero a group, and each input's group as int32. AWQ: no such
// order.
void read_grouped(const Keys& config, bool order, Quantisation& storage) {
    const auto bits = config.integer({"bits", "w_bit"}, {2, 8});
    const auto group = config.integer_or({"group_size", "q_group_size"}, 128, {-1, 1 << 20});
    const std::int64_t columns = group <= 0 ? 0 : group;
    const auto width = static_cast<double>(bits);
    Format format{fmt::format("int{} group {}", bits, group), width, {}};
    format.scales = {{1, columns, 16}, {1, columns, width}};
    if (order) format.scales.push_back({0, 1, 32});
    storage.name = fmt::format("{} {}", order ? "gptq" : "awq", format.name);
    storage.rules.push_back({format, {}});
    storage.head = config.flag_or({"lm_head"}, false);
    ignore_parts(config, {"modules_to_not_convert"}, storage);
}

// bitsandbytes: 4 bit with a scale for 64 elements, which double quantisation stores in 8 bits with
// an FP32 for 256 of them; 8 bit with an FP32 a row.
void read_bitsandbytes(const Keys& config, Quantisation& storage) {
    constexpr std::int64_t kBlock = 64, kScales = 256;
    if (config.flag_or({"load_in_4bit", "_load_in_4bit"}, false)) {
        Format format{"bitsandbytes 4 bit", 4, {{0, kBlock, 32, true}}};
        if (config.flag_or({"bnb_4bit_use_double_quant"}, false)) {
            format.scales = {{0, kBlock, 8, true}, {0, kBlock * kScales, 32, true}};
        }
        storage.name = format.name;
        storage.rules.push_back({format, {}});
    } else if (config.flag_or({"load_in_8bit", "_load_in_8bit"}, false)) {
        storage.name = "bitsandbytes 8 bit";
        storage.rules.push_back({{storage.name, 8, {{1, 0, 32}}}, {}});
    } else {
        config.fail("load_in_4bit", "and \"load_in_8bit\" are both missing or false");
    }
    ignore_parts(config, {"llm_int8_skip_modules"}, storage);
}

// Bits of a scale: of the type that the config names, else as the format has it.
double scale_bits(const Keys& weights, double otherwise) {
    const auto type = weights.text_or({"scale_dtype"}, "");
    if (type.ends_with("uint8") || type.ends_with("float8_e4m3fn")) return 8;
    if (type.ends_with("float16")) return 16;  // bfloat16 too
    if (type.ends_with("float32")) return 32;
    return otherwise;
}

Format compressed_format(const Keys& weights) {
    const auto bits = weights.integer({"num_bits"}, {1, 16});
    const auto type = weights.text_or({"type"}, "int");
    const auto strategy = weights.text_or({"strategy"}, "tensor");
    const bool fp4 = type == "float" && bits == 4;
    Format format{fmt::format("{}{} by {}", type, bits, strategy), static_cast<double>(bits), {}};
    if (strategy == "tensor") {
        format.scales = {{0, 0, scale_bits(weights, 16)}};
    } else if (strategy == "channel") {
        format.scales = {{1, 0, scale_bits(weights, 16)}};
    } else if (strategy == "group" || strategy == "tensor_group") {
        const auto group = weights.integer({"group_size"}, {1, 1 << 20});
        format.scales = {{1, group, scale_bits(weights, fp4 ? 8 : 16)}};
        if (strategy == "tensor_group") format.scales.push_back({0, 0, 32});
    } else if (strategy == "block") {
        const auto block = weights.integers({"block_structure"}, {1, 1 << 20});
        if (block.size() != 2) weights.fail("block_structure", "isn't two sizes");
        format.scales = {{block[0], block[1], scale_bits(weights, 16)}};
    } else {
        weights.fail("strategy", fmt::format("is \"{:.40}\", which isn't known", strategy));
    }
    if (type == "int" && !weights.flag_or({"symmetric"}, true)) {
        auto zero = format.scales.front();
        zero.bits = static_cast<double>(bits);
        format.scales.push_back(zero);
    }
    return format;
}

void read_compressed(const Keys& config, Quantisation& storage) {
    storage.head = true;
    ignore_or_match(config.words({"ignore"}), storage.ignored);
    const auto groups = config.table("config_groups");
    for (const auto& [name, group] : groups.json().items()) {
        const auto keys = groups.table(name);
        if (!keys.has({"weights"})) continue;  // activations alone
        Rule rule{compressed_format(keys.table("weights")), {}};
        auto targets = keys.words({"targets"});
        // A class's name takes every matrix.
        if (std::ranges::find(targets, "Linear") == targets.end()) {
            ignore_or_match(targets, rule.targets);
        }
        storage.rules.push_back(std::move(rule));
    }
    storage.name = "compressed-tensors " + config.text_or({"format"}, "");
}

Format modelopt_format(const Keys& config) {
    const auto algorithm = lower(config.text_or({"quant_algo"}, ""));
    // Beside the blocks' scales, one FP32 for the weights and one for the activations they meet.
    if (algorithm == "nvfp4" || algorithm == "w4a16_nvfp4" || algorithm == "nvfp4_awq") {
        const auto group = config.integer_or({"group_size"}, 16, {1, 1 << 20});
        return {"nvfp4", 4, {{1, group, 8}, {0, 0, 32}, {0, 0, 32}}};
    }
    if (algorithm == "fp8") return {"fp8", 8, {{0, 0, 32}, {0, 0, 32}}};
    if (algorithm == "fp8_pb_wo" || algorithm == "fp8_pb_real") return format_named("fp8_block");
    config.fail("quant_algo", fmt::format("is \"{:.40}\", which isn't known", algorithm));
}

// The algorithm of each module by its name. Experts are stored alike: one's number says nothing.
void read_modelopt_layers(const Keys& config, Quantisation& storage) {
    constexpr std::string_view kExperts = ".experts.";
    const auto layers = config.table("quantized_layers");
    std::set<std::string> seen;
    for (const auto& [name, layer] : layers.json().items()) {
        auto module = name;
        if (const auto at = module.find(kExperts); at != std::string::npos) {
            module.resize(at + kExperts.size() - 1);
        }
        if (!seen.insert(module).second) continue;
        auto format = modelopt_format(layers.table(name));
        const auto rule = std::ranges::find_if(storage.rules, [&](const Rule& r) {
            return r.format.name == format.name &&
                   r.format.scales.front().columns == format.scales.front().columns;
        });
        if (rule != storage.rules.end()) {
            rule->targets.push_back(NamePattern::parts(module));
        } else {
            storage.rules.push_back({std::move(format), {NamePattern::parts(module)}});
        }
    }
}

// modelopt writes config.json's quantization_config and hf_quant_config.json in the same words.
void read_modelopt(const Keys& config, Quantisation& storage) {
    const auto algorithm = lower(config.text_or({"quant_algo"}, ""));
    storage.head = true;
    storage.name = "modelopt " + algorithm;
    ignore_parts(config, {"exclude_modules", "ignore"}, storage);
    if (algorithm == "mixed_precision") {
        read_modelopt_layers(config, storage);
    } else {
        storage.rules.push_back({modelopt_format(config), {}});
    }
}

struct Method {
    std::string_view name;
    std::function<void(const Keys&, Quantisation&)> read;
};

const std::vector<Method>& methods() {
    static const std::vector<Method> kMethods{
        {"fp8", read_fp8},
        {"fbgemm_fp8",
         [](const Keys& config, Quantisation& storage) {
             storage.name = "fbgemm fp8";
             storage.rules.push_back({{"fp8 by row", 8, {{1, 0, 32}}}, {}});
             ignore_parts(config, {"modules_to_not_convert"}, storage);
         }},
        {"mxfp4", read_mxfp4},
        {"gptq", [](const Keys& config, Quantisation& s) { read_grouped(config, true, s); }},
        {"awq", [](const Keys& config, Quantisation& s) { read_grouped(config, false, s); }},
        {"bitsandbytes", read_bitsandbytes},
        {"compressed-tensors", read_compressed},
        {"modelopt", read_modelopt},
    };
    return kMethods;
}

// The method by name, or by the key that only it has.
std::string method_name(const Keys& config) {
    auto name = lower(config.text_or({"quant_method"}, ""));
    if (!name.empty()) return name;
    if (config.has({"quant_algo"})) return "modelopt";
    if (config.has({"config_groups"})) return "compressed-tensors";
    if (config.has({"load_in_4bit", "load_in_8bit"})) return "bitsandbytes";
    return "";
}

void apply(const Keys& config, Quantisation& storage) {
    const auto name = method_name(config);
    std::vector<std::string> known;
    for (const auto& method : methods()) {
        if (method.name == name) return method.read(config, storage);
        known.emplace_back(method.name);
    }
    throw UsageError(fmt::format("{}: \"quant_method\" is \"{:.40}\", known are {}",
                                 config.source(), name, join(known, ", ")),
                     "give the type that the weights are stored in: --weights int4, say");
}

// Routed experts of a type of their own beside what the rest is stored in: DeepSeek-V4. Another
// method's configuration says what became of them.
void apply_expert_type(const Keys& text, Quantisation& storage) {
    const auto type = text.text_or({"expert_dtype"}, "");
    if (type.empty() || !storage.name.starts_with("fp8")) return;
    const auto format = format_named(type);
    storage.rules.insert(storage.rules.begin(),
                         {format, {NamePattern::expression(kRoutedExperts)}});
    storage.name = fmt::format("{}, experts {}", storage.name, format.name);
    // Such a checkpoint stores the scales of all its tensors as exponents of 8 bits.
    for (auto& rule : storage.rules) {
        for (auto& scale : rule.format.scales) scale.bits = 8;
    }
}

}  // namespace

Quantisation read_quantisation(const Keys& root, const Keys& text,
                               std::vector<std::string>& unknown) {
    auto type = text.text_or({"dtype", "torch_dtype"}, root.text_or({"dtype", "torch_dtype"}, ""));
    const bool silent = type.empty() || type == "auto";
    if (silent) type = "bfloat16";
    if (!is_plain_type(type))
        text.fail("dtype", fmt::format("is \"{:.40}\", which isn't known", type));
    Quantisation storage = storage_named(type);
    for (const auto* keys : {&root, &text}) {
        for (const auto* name : {"quantization_config", "quantization"}) {
            if (!storage.rules.empty() || !keys->has({name})) continue;
            apply(keys->table(name), storage);
        }
    }
    apply_expert_type(text, storage);
    if (silent && storage.rules.empty()) unknown.emplace_back("the weights' type: bf16 is taken");
    return storage;
}

}  // namespace assay::model
