// A product as cuBLASLt describes it.
#pragma once

#include <memory>
#include <type_traits>

#include "cuda/cublaslt.h"
#include "cuda/cuda_buffer.h"
#include "cuda/matmul_types.h"
#include "ops/matmul.h"

namespace assay::cuda {

// cuBLASLt's matrices are column-major, and a row-major C is the transpose of a column-major one:
// it computes C^T = B^T A^T, so that its first operand is our B.
class LtProblem {
  public:
    explicit LtProblem(const work::Matmul& problem);

    const work::Matmul& problem() const { return problem_; }

    // Queues the product. Throws as CublasLt::check does.
    void run(const ops::MatmulOperands& operands, const cublasLtMatmulAlgo_t& algorithm,
             void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

    // The library's own list, its choice first; empty where it has none.
    std::vector<cublasLtMatmulHeuristicResult_t> heuristic(std::size_t workspace_bytes) const;
    // What the library says of one algorithm; false where it can't run this problem.
    bool check(const cublasLtMatmulAlgo_t& algorithm,
               cublasLtMatmulHeuristicResult_t& result) const;
    // Every algorithm id that the library has for these types.
    std::vector<int> algorithm_ids() const;
    // False where the library doesn't know the id.
    bool init(int id, cublasLtMatmulAlgo_t& algorithm) const;

  private:
    template <class Object>
    using Handle = std::unique_ptr<std::remove_pointer_t<Object>, cublasStatus_t (*)(Object)>;
    using Layout = Handle<cublasLtMatrixLayout_t>;

    Layout layout(work::Type type, std::int64_t rows, std::int64_t columns, bool transposed) const;
    template <class Value>
    void set(cublasLtMatmulDescAttributes_t attribute, const Value& value);
    void set_scales();

    const CublasLt& library_;
    work::Matmul problem_;
    work::Type type_c_;  // of the C that cuBLASLt wants described though nothing is added to it
    Factors factors_;
    Handle<cublasLtMatmulDesc_t> description_;
    Layout first_, second_, c_, d_;
    std::unique_ptr<CudaBuffer> scales_;  // scale_b, scale_a, for fp8
};

}  // namespace assay::cuda
