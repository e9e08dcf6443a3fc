// Attention (work/attention.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "ops/operation.h"
#include "work/attention.h"

namespace assay::ops {

// A library's kernels work in whole tiles: where entries lie back to back, or the mask has
// documents, each tensor goes on for so many rows of finite numbers, which may be written too.
inline constexpr std::int64_t kSpareRows = 128;

// Device addresses, laid out by the problem's strides; the gradients as their tensors. `bias` is
// [heads, queries, keys] of the problem's type, null without one. The forward pass reads q, k, v
// and writes o and lse; the backward pass reads all five and d_o, and writes d_q, d_k, d_v. Which
// alignment a provider needs, it says when it is given less.
struct AttentionOperands {
    const void* q = nullptr;
    const void* k = nullptr;
    const void* v = nullptr;
    const void* bias = nullptr;
    void* o = nullptr;
    float* lse = nullptr;
    const void* d_o = nullptr;
    void* d_q = nullptr;
    void* d_k = nullptr;
    void* d_v = nullptr;
};

class PreparedAttention : public Operation {
  public:
    virtual void enqueue(device::Stream& stream, const AttentionOperands& operands) = 0;
};

class Attention : public device::Facility {
  public:
    static constexpr const char* kName = "attention";
    // Its ways to attention, the one expected to be the fastest first.
    virtual std::vector<std::string> providers() const = 0;
    // `provider` empty: the first of them that takes the problem. Throws Unsupported saying what
    // the provider, or every one of them, can't do.
    virtual std::unique_ptr<PreparedAttention> prepare(const work::Attention& problem,
                                                       work::AttentionPass pass,
                                                       const std::string& provider = {}) = 0;
};

}  // namespace assay::ops
