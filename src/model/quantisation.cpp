#include "model/quantisation.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::model {
namespace {

constexpr double kBitsPerByte = 8;

struct NamedFormat {
    Format format;
    std::vector<std::string_view> aliases;
};

// Scales: OCP microscaling formats 1.0 for mxfp4 (one E8M0 for 32), NVIDIA's NVFP4 (one E4M3 for
// 16, one FP32 a matrix), DeepSeek-V3's 128x128 blocks (FP32). int8: one a row; int4: groups of
// 128, as GPTQ and AWQ have by default.
const std::vector<NamedFormat>& formats() {
    static const std::vector<NamedFormat> kFormats{
        {{"fp32", 32, {}}, {"float32", "float", "torch.float32"}},
        {{"fp16", 16, {}}, {"float16", "half", "torch.float16"}},
        {{"bf16", 16, {}}, {"bfloat16", "torch.bfloat16"}},
        {{"fp8", 8, {{0, 0, 32}}}, {"fp8_e4m3fn", "fp8_e4m3fnuz", "fp8_e5m2", "float8_e4m3fn"}},
        {{"fp8_block", 8, {{128, 128, 32}}}, {"fp8_128x128"}},
        {{"int8", 8, {{1, 0, 16}}}, {"w8"}},
        {{"int4", 4, {{1, 128, 16}}}, {"w4"}},
        {{"mxfp4", 4, {{1, 32, 8}}}, {"fp4"}},
        {{"nvfp4", 4, {{1, 16, 8}, {0, 0, 32}}}, {}},
    };
    return kFormats;
}

std::int64_t blocks(std::int64_t size, std::int64_t block) {
    return block == 0 ? 1 : (size + block - 1) / block;
}

std::int64_t scales_of(const Scale& scale, std::int64_t out, std::int64_t in) {
    if (scale.flat) return blocks(out * in, scale.columns);
    return blocks(out, scale.rows) * blocks(in, scale.columns);
}

// The module that holds it, with a number in place of an expert's "*".
std::string module_name(const Tensor& tensor) {
    auto name = tensor.name;
    constexpr std::string_view kWeight = ".weight";
    if (name.ends_with(kWeight)) name.resize(name.size() - kWeight.size());
    std::ranges::replace(name, '*', '0');
    return name;
}

bool any_matches(const std::vector<NamePattern>& patterns, const std::string& name) {
    return std::ranges::any_of(patterns, [&](const auto& p) { return p.matches(name); });
}

bool can_be_quantised(const Quantisation& storage, const Tensor& tensor) {
    if (tensor.keeps_type || tensor.shape.size() != 2) return false;
    return tensor.role == Role::projection || (tensor.role == Role::head && storage.head);
}

}  // namespace

const Format& format_of(const Quantisation& storage, const Tensor& tensor) {
    if (storage.rules.empty() || !can_be_quantised(storage, tensor)) return storage.plain;
    const auto name = module_name(tensor);
    if (any_matches(storage.ignored, name)) return storage.plain;
    const auto rule = std::ranges::find_if(storage.rules, [&](const Rule& r) {
        return r.targets.empty() || any_matches(r.targets, name);
    });
    return rule == storage.rules.end() ? storage.plain : rule->format;
}

StoredBytes stored(const Quantisation& storage, const Tensor& tensor) {
    if (tensor.tied) return {};
    const auto& format = format_of(storage, tensor);
    StoredBytes bytes{static_cast<double>(tensor.parameters()) * format.bits / kBitsPerByte, 0};
    if (tensor.shape.size() != 2) return bytes;
    for (const auto& scale : format.scales) {
        bytes.scales += static_cast<double>(scales_of(scale, tensor.shape[0], tensor.shape[1])) *
                        static_cast<double>(tensor.copies) * scale.bits / kBitsPerByte;
    }
    return bytes;
}

double stored_bytes(const Quantisation& storage, const Tensor& tensor) {
    return stored(storage, tensor).total();
}

double stored_bytes(const Quantisation& storage, const Extra& extra) {
    if (extra.in_tensors) return 0;
    return static_cast<double>(extra.parameters) * storage.plain.bits / kBitsPerByte;
}

double bits_per_weight(const Quantisation& storage, const Tensor& tensor) {
    Tensor whole = tensor;
    whole.tied = false;
    return stored_bytes(storage, whole) * kBitsPerByte / static_cast<double>(whole.parameters());
}

std::int64_t scale_elements(const Quantisation& storage, const Tensor& tensor) {
    if (tensor.tied || tensor.shape.size() != 2) return 0;
    std::int64_t count = 0;
    for (const auto& scale : format_of(storage, tensor).scales) {
        count += scales_of(scale, tensor.shape[0], tensor.shape[1]) * tensor.copies;
    }
    return count;
}

Format format_named(std::string_view name) {
    std::vector<std::string> known;
    for (const auto& row : formats()) {
        if (row.format.name == name || std::ranges::find(row.aliases, name) != row.aliases.end()) {
            return row.format;
        }
        known.push_back(row.format.name);
    }
    throw_unknown("type of weights", name, known);
}

bool is_plain_type(std::string_view name) {
    return std::ranges::any_of(formats(), [&](const auto& row) {
        return row.format.bits >= 16 && (row.format.name == name ||
                                         std::ranges::find(row.aliases, name) != row.aliases.end());
    });
}

Quantisation storage_named(std::string_view name) {
    const auto format = format_named(name);
    if (format.bits >= 16) return {.name = format.name, .plain = format};
    return {.name = format.name,
            .plain = format_named("bf16"),
            .rules = {{.format = format, .targets = {}}}};
}

WeightBytes weight_bytes(const Transformer& shape, const Quantisation& storage) {
    const auto sum = [&](const std::vector<Tensor>& tensors) {
        double bytes = 0;
        for (const auto& tensor : tensors) bytes += stored_bytes(storage, tensor);
        return bytes;
    };
    WeightBytes bytes;
    bytes.main = sum(shape.input) + sum(shape.output);
    for (const auto& layer : shape.layers) bytes.main += sum(layer.tensors);
    for (const auto& layer : shape.predictors) bytes.predictors += sum(layer.tensors);
    for (const auto& extra : shape.extras) bytes.extras += stored_bytes(storage, extra);
    return bytes;
}

}  // namespace assay::model
