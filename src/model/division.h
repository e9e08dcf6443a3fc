// What a layout divides and what it replicates, in words and bytes.
#pragma once

#include <string>
#include <vector>

#include "model/memory.h"

namespace assay::model {

// Of one part of the model, or of one kind of cache.
struct Division {
    std::string what;      // "attention", "experts", "cache of latent"
    double whole = 0;      // bytes that the stage holds once; of a cache, for one request
    double on_device = 0;  // bytes of each of its devices
    // "divided by 8", "replicated on each of 8", "4 heads on 8 ranks: each held twice",
    // "25 padded to 32, divided by 8"
    std::string how;
};

// Of a stage, as `memory_of`; parts that are treated alike are one. Training says so of parameters
// in the type of its weights.
std::vector<Division> divisions(const Holdings& holdings, const Layout& layout, const Use& use,
                                int stage);

// Heads of a layer on one rank of the tensor group.
struct HeadsOfRank {
    std::string what;        // "MLA", "attention", "recurrence"
    std::int64_t heads = 0;  // of the model
    std::int64_t of_rank = 0;
    // Of them, added zeros where they don't divide.
    std::int64_t added = 0;
    // The multiple that the fast kernel of latent attention takes, where `of_rank` is none: zeros
    // up to it give the same result, and cost as much as heads (vllm-project/vllm#50578).
    std::optional<std::int64_t> kernel_pads_to;
};
inline constexpr std::int64_t kLatentHeadMultiple = 16;

// Each kind of layer once.
std::vector<HeadsOfRank> heads_of_rank(const Holdings& holdings, const Layout& layout);

}  // namespace assay::model
