#include "cuda/matmul.h"

#include "base/error.h"
#include "base/text.h"
#include "cuda/cublas_matmul.h"
#include "cuda/lt_algorithms.h"
#include "cuda/lt_matmul.h"
#include "cuda/matmul_types.h"

namespace assay::cuda {

std::unique_ptr<ops::PreparedMatmul> CudaMatmul::prepare(const work::Matmul& problem,
                                                         const ops::MatmulChoice& choice) {
    work::validate(problem);
    require_supported(problem, device_, capability_);
    const auto known = entries();
    if (choice.entry.empty() || choice.entry == known[0]) {
        return prepare_lt(problem, choice.algorithm, capability_);
    }
    if (choice.entry != known[1]) {
        throw Unsupported("no entry point \"" + choice.entry + "\"",
                          "there are " + join(known, ", "));
    }
    if (!choice.algorithm.empty()) throw Unsupported("cuBLAS has no choice of algorithms");
    return prepare_cublas(problem);
}

std::vector<std::string> CudaMatmul::algorithms(const work::Matmul& problem,
                                                std::size_t enumerated) {
    work::validate(problem);
    require_supported(problem, device_, capability_);
    std::vector<std::string> texts;
    for (const auto& algorithm : find_algorithms(LtProblem(problem), enumerated)) {
        texts.push_back(to_text(algorithm));
    }
    return texts;
}

}  // namespace assay::cuda
