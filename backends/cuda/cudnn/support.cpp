#include "cuda/cudnn/support.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::cuda {

namespace {

using work::AttentionTensor;

constexpr int kLeastCapability = 80;
constexpr std::int64_t kAligned = 8;  // elements of 16 bytes
constexpr const char* kOther = "choose another provider";

void require_type(const work::Attention& p) {
    if (p.type == work::Type::fp16 || p.type == work::Type::bf16) return;
    throw Unsupported(fmt::format("cuDNN has no attention in {}", work::name(p.type)),
                      "it has fp16 and bf16");
}

void require_no_modifier(const work::Attention& p) {
    const auto refuse = [](const char* what) {
        throw Unsupported(fmt::format("attention by cuDNN is built without {}", what), kOther);
    };
    if (p.modifier.soft_cap != 0) refuse("a soft cap");
    if (p.modifier.alibi) refuse("ALiBi");
    if (p.modifier.bias) refuse("a bias");
}

void require_mask(const work::Attention& p) {
    if (p.mask.prefix > 0) throw Unsupported("cuDNN has no mask with a prefix", kOther);
    if (!p.mask.blocks.empty()) throw Unsupported("cuDNN has no mask of blocks", kOther);
}

void require_dims(const work::Attention& p) {
    if (p.dim % kAligned == 0 && p.value_dim % kAligned == 0) return;
    throw Unsupported(fmt::format("cuDNN has no attention with dims {} and {}", p.dim, p.value_dim),
                      "it has multiples of 8: pad the heads with zeros");
}

// Rows are read 16 bytes at a time.
void require_alignment(const work::Attention& p, const CudnnEntries& entries) {
    for (const auto tensor :
         {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v, AttentionTensor::o}) {
        const auto s = cudnn_strides(p, entries, tensor);
        for (const auto stride : {s.batch, s.head, s.row}) {
            if (stride % kAligned == 0) continue;
            throw Unsupported(
                fmt::format(
                    "cuDNN takes no rows {} elements apart: they aren't aligned to 16 bytes",
                    stride),
                "give strides in multiples of 8");
        }
    }
}

// A row that sees nothing has a sum of 0 to divide by.
void require_visible_keys(const work::Mask& mask, std::int64_t queries, std::int64_t keys) {
    const auto refuse = [&](const char* why) {
        throw Unsupported(
            fmt::format(
                "cuDNN gives no number for queries that see no key: {} ({} queries, {} keys)", why,
                queries, keys),
            kOther);
    };
    if (queries == 0) return;
    if (keys == 0) refuse("there is none");
    const auto first = mask.alignment == work::Alignment::bottom_right ? keys - queries : 0;
    const auto last = first + queries - 1;
    if (mask.causal && first < 0) refuse("the first stand before them");
    if (mask.window == 0) return;
    if (last - mask.window + 1 >= keys || first + mask.window - 1 < 0) {
        refuse("they stand outside their window");
    }
}

void require_entries(const work::Attention& p, const CudnnEntries& entries,
                     work::AttentionPass pass) {
    for (std::int64_t entry = 0; entry < entries.count; ++entry) {
        const auto queries = entries.queries_of(entry), keys = entries.keys_of(entry);
        require_visible_keys(p.mask, queries, keys);
        if (queries == 0 && pass == work::AttentionPass::backward) {
            throw Unsupported("cuDNN gives no gradient for keys without queries", kOther);
        }
        if (!entries.has_lengths()) break;  // all are alike
    }
    const bool windowed = p.mask.window > 0 && p.mask.window < entries.queries;
    if (windowed && !entries.has_lengths() && entries.queries > entries.keys) {
        throw Unsupported(fmt::format("cuDNN has no window for more queries ({}) than keys ({})",
                                      entries.queries, entries.keys),
                          kOther);
    }
}

}  // namespace

void require_cudnn_attention(const work::Attention& problem, const CudnnEntries& entries,
                             work::AttentionPass pass, int capability) {
    if (capability < kLeastCapability) {
        throw Unsupported(fmt::format("cuDNN has no attention for compute capability {}.{}",
                                      capability / 10, capability % 10),
                          "it has from 8.0 on");
    }
    require_type(problem);
    require_no_modifier(problem);
    require_mask(problem);
    require_dims(problem);
    require_alignment(problem, entries);
    require_entries(problem, entries, pass);
}

}  // namespace assay::cuda
