// The algorithms of cuBLASLt: their names, and the search for those that fit a problem.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/lt_problem.h"

namespace assay::cuda {

struct LtConfig {
    int id = 0, tile = 0, stages = 0, split_k = 1, reduction = 0, swizzle = 0, custom = 0;
    std::uint16_t inner_shape = 0, cluster = 0;

    auto operator<=>(const LtConfig&) const = default;
};

LtConfig config_of(const cublasLtMatmulAlgo_t& algorithm);
// "algorithm 66 tile 248 stages 35 cluster 5 split-K 1 swizzle 0 custom 7": numbers are the
// library's ids.
std::string name_of(const LtConfig& config);

// The name and the library's own 64 bytes, which mean the same in another process with the same
// library (cuBLAS documentation, cublasLtMatmulAlgo_t).
std::string to_text(const cublasLtMatmulAlgo_t& algorithm);
// Throws Error for a text that to_text() doesn't make.
cublasLtMatmulAlgo_t from_text(const std::string& text);

inline constexpr std::size_t kLtWorkspaceBytes = std::size_t{32} << 20;  // what Hopper is advised

// The heuristic's list in its order, then at most `enumerated` others that the library says it can
// run within the workspace, the most promising first: large tiles that leave no multiprocessor
// without work at the end (area of a tile x waves / whole waves), tiles in turn. The search ends
// after half a second.
std::vector<cublasLtMatmulAlgo_t> find_algorithms(const LtProblem& problem, std::size_t enumerated);

}  // namespace assay::cuda
