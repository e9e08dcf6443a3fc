// From products of queries and keys to scores: modifiers, and what the mask hides.
#pragma once

#include <cmath>
#include <limits>

#include "cuda/attention/arguments.h"
#include "cuda/attention/lane.h"

namespace assay::cuda {

inline constexpr float kLog2E = 1.44269504088896340736F;
inline constexpr float kLn2 = 0.693147180559945309417F;

ASSAY_LANE float minus_infinity() {
    return -std::numeric_limits<float>::infinity();
}

// ALiBi's slope of a head, as work::alibi_slope(); 0 without.
ASSAY_LANE float slope_of(const AttentionArguments& p, int head) {
    if (!p.alibi) return 0;
    return exp2f(-8.0F * static_cast<float>(head + 1) / static_cast<float>(p.heads));
}

ASSAY_LANE Sight sight_of(const AttentionArguments& p, const Entry& entry, int query) {
    if (query >= entry.queries) return {};
    return p.sights[entry.sights + query];
}

// Whether the list of blocks, where there is one, lets the query see the key; both exist.
ASSAY_LANE bool block_sees(const AttentionArguments& p, int query, int key) {
    const int row = query / p.block_size, column = key / p.block_size;
    return (p.blocks[static_cast<std::int64_t>(row) * p.block_words + column / 32] >>
                (column % 32) &
            1U) != 0;
}

ASSAY_LANE bool sees(const AttentionArguments& p, const Sight& sight, int query, int key) {
    return sight.sees(key) && (p.blocks == nullptr || block_sees(p, query, key));
}

// A score and its derivative by the scaled product.
struct Score {
    float value = 0, slope = 1;
};

// tanh by the fast exponential: to 2e-7, absolutely.
ASSAY_LANE float fast_tanh(float x) {
    return 1.0F - lane::fast_divide(2.0F, 1.0F + lane::fast_exp2(2.0F * kLog2E * x));
}

// The modifiers of 16-bit types, for products that aren't scaled yet: what is the same for all of a
// head is decided once.
template <work::Type type>
class Modifiers {
  public:
    ASSAY_LANE Modifiers(const AttentionArguments& p, const Entry& entry, int head)
        : p_(p), entry_(entry), slope_(slope_of(p, head)) {
        if (p.bias != nullptr) {
            bias_ = static_cast<const std::uint16_t*>(p.bias) + head * p.bias_head;
        }
    }

    // The soft cap, and its derivative.
    ASSAY_LANE Score capped(float product) const {
        if (!(p_.soft_cap > 0)) return {product * p_.scale, 1};
        const float t = fast_tanh(product * p_.scale_to_cap);
        return {p_.soft_cap * t, fmaf(-t, t, 1.0F)};
    }
    // What is added to the capped score.
    ASSAY_LANE float shift(int query, int key) const {
        const int distance = query + entry_.shift - key;
        float shift = -slope_ * static_cast<float>(distance < 0 ? -distance : distance);
        if (bias_ != nullptr && query < entry_.queries && key < entry_.keys) {
            shift += lane::to_float<type>(bias_[query * p_.bias_row + key]);
        }
        return shift;
    }

  private:
    const AttentionArguments& p_;
    const Entry& entry_;
    const std::uint16_t* bias_ = nullptr;
    float slope_;
};

}  // namespace assay::cuda
