#include "cuda/cublas_matmul.h"

#include <limits>

#include "base/error.h"
#include "cuda/cublas.h"
#include "cuda/cuda_buffer.h"
#include "cuda/cuda_stream.h"
#include "cuda/lt_algorithms.h"
#include "cuda/matmul_types.h"

namespace assay::cuda {

namespace {

class Prepared : public ops::PreparedMatmul {
  public:
    explicit Prepared(const work::Matmul& problem)
        : library_(Cublas::instance()),
          problem_(problem),
          factors_(problem),
          workspace_(kLtWorkspaceBytes) {
        if (problem.epilogue != work::Epilogue::none) {
            throw Unsupported("cuBLAS has no epilogue " +
                              std::string(work::name(problem.epilogue)));
        }
        if (work::is_fp8(problem.operand)) {
            throw Unsupported("cuBLAS has no product of " +
                              std::string(work::name(problem.operand)));
        }
        for (const auto size : {problem.m, problem.n, problem.k, problem.batch}) {
            if (size > std::numeric_limits<int>::max()) {
                throw Unsupported("cuBLAS counts to 2^31, and " + describe(problem) + " is larger");
            }
        }
        implementation_.library = "cuBLAS";
        implementation_.library_file = library_.file();
        implementation_.library_version = library_.version();
        implementation_.algorithm = "default";
        implementation_.path = record::Path::fast;
        implementation_.workspace_bytes = workspace_.size();
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    // C^T = B^T A^T in column-major matrices, as in LtProblem.
    void enqueue(device::Stream& stream, const ops::MatmulOperands& operands) override {
        const auto& p = problem_;
        auto* handle = library_.handle();
        library_.check(library_.set_stream(handle, CudaStream::of(stream)), "cublasSetStream");
        library_.check(library_.set_workspace(handle, workspace_.data(), workspace_.size()),
                       "cublasSetWorkspace");
        const bool turn_b = work::b_transposed(p.layout), turn_a = work::a_transposed(p.layout);
        const auto m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
        library_.check(
            library_.gemm_strided_batched_ex(
                handle, turn_b ? CUBLAS_OP_T : CUBLAS_OP_N, turn_a ? CUBLAS_OP_T : CUBLAS_OP_N, n,
                m, k, factors_.alpha(), operands.b, data_type(work::type_b(p)), turn_b ? k : n,
                p.k * p.n, operands.a, data_type(p.operand), turn_a ? m : k, p.m * p.k,
                factors_.beta(), operands.c, data_type(p.output), n, p.m * p.n,
                static_cast<int>(p.batch), compute_type(p), CUBLAS_GEMM_DEFAULT),
            "cublasGemmStridedBatchedEx of " + describe(p));
    }

  private:
    const Cublas& library_;
    work::Matmul problem_;
    Factors factors_;
    CudaBuffer workspace_;
    ops::Implementation implementation_;
};

}  // namespace

std::unique_ptr<ops::PreparedMatmul> prepare_cublas(const work::Matmul& problem) {
    return std::make_unique<Prepared>(problem);
}

}  // namespace assay::cuda
