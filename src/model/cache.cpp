#include "model/cache.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "work/named_rows.h"

namespace assay::model {
namespace {

constexpr std::array kTypes{CacheType{"fp32", 4},
                            CacheType{"fp16", 2},
                            CacheType{"bf16", 2},
                            CacheType{"fp8", 1},
                            CacheType{"int8", 1},
                            CacheType{"fp4", 0.5},
                            CacheType{"fp8_ds_mla", 1, true}};

double entries(const CacheEntry& entry, double context) {
    const double tokens =
        entry.window ? std::min(context, static_cast<double>(*entry.window)) : context;
    return std::floor(tokens / static_cast<double>(entry.stride));
}

}  // namespace

const CacheType& cache_type(std::string_view name) {
    return work::row_named("type of the cache", name, kTypes);
}

double entry_bytes(const CacheEntry& entry, const CacheType& type) {
    constexpr double kBlock = 128, kScaleBytes = 4, kRotaryBytes = 2;
    const auto elements = static_cast<double>(entry.elements);
    if (!type.packed || entry.heads > 0) return elements * type.bytes;
    const auto rotary = static_cast<double>(entry.rotary);
    const double packed = elements - rotary;
    return packed + std::ceil(packed / kBlock) * kScaleBytes + rotary * kRotaryBytes;
}

double cache_bytes(const Mixer& mixer, double context, const CacheType& type) {
    double bytes = 0;
    for (const auto& entry : mixer.cache) {
        bytes += entries(entry, context) * entry_bytes(entry, type);
    }
    return bytes;
}

double cache_bytes(const Transformer& shape, double context, const CacheType& type) {
    double bytes = 0;
    for (const auto& layer : shape.layers) bytes += cache_bytes(layer.mixer, context, type);
    return bytes;
}

double cache_bytes_per_token(const Transformer& shape, const CacheType& type) {
    double bytes = 0;
    for (const auto& layer : shape.layers) {
        for (const auto& entry : layer.mixer.cache) {
            if (entry.window) continue;
            bytes += entry_bytes(entry, type) / static_cast<double>(entry.stride);
        }
    }
    return bytes;
}

double window_bytes(const Transformer& shape, const CacheType& type) {
    double bytes = 0;
    for (const auto& layer : shape.layers) {
        for (const auto& entry : layer.mixer.cache) {
            if (!entry.window) continue;
            bytes += entries(entry, static_cast<double>(*entry.window)) * entry_bytes(entry, type);
        }
    }
    return bytes;
}

std::int64_t state_elements(const Transformer& shape) {
    std::int64_t elements = 0;
    for (const auto& layer : shape.layers) elements += layer.mixer.state_elements;
    return elements;
}

}  // namespace assay::model
