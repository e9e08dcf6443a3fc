#include "cuda/lt_matmul.h"

#include "base/error.h"
#include "cuda/cuda_stream.h"
#include "cuda/lt_algorithms.h"
#include "cuda/lt_problem.h"

namespace assay::cuda {

namespace {

constexpr int kHopper = 90;

// From Hopper on, kernels for the matrix units of the device run in clusters; one that names no
// cluster was written for earlier devices.
bool is_earlier_code(const work::Matmul& p, const LtConfig& config, int capability) {
    const bool matrix_unit = p.operand != work::Type::fp32 && p.operand != work::Type::fp64;
    return capability >= kHopper && matrix_unit && config.cluster == 0;
}

class Prepared : public ops::PreparedMatmul {
  public:
    Prepared(const work::Matmul& problem, const std::string& algorithm, int capability)
        : problem_(problem) {
        const auto& library = CublasLt::instance();
        const auto result = choose(algorithm);
        algorithm_ = result.algo;
        if (result.workspaceSize > 0) {
            workspace_ = std::make_unique<CudaBuffer>(result.workspaceSize);
        }
        const auto config = config_of(algorithm_);
        implementation_.library = "cuBLASLt";
        implementation_.library_file = library.file();
        implementation_.library_version = library.version();
        implementation_.algorithm = name_of(config);
        implementation_.path = record::Path::fast;
        implementation_.workspace_bytes = result.workspaceSize;
        if (is_earlier_code(problem, config, capability)) {
            implementation_.path = record::Path::fallback;
            implementation_.note =
                "cuBLASLt took code of an earlier architecture; sizes in multiples of 8 (16-bit "
                "types) or 16 (8-bit) reach this device's own";
        }
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::MatmulOperands& operands) override {
        problem_.run(operands, algorithm_, workspace_ ? workspace_->data() : nullptr,
                     workspace_ ? workspace_->size() : 0, CudaStream::of(stream));
    }

  private:
    cublasLtMatmulHeuristicResult_t choose(const std::string& algorithm) const {
        const auto what = describe(problem_.problem());
        if (!algorithm.empty()) {
            cublasLtMatmulHeuristicResult_t result{};
            const auto asked = from_text(algorithm);
            if (!problem_.check(asked, result)) {
                throw Unsupported("cuBLASLt can't run " + name_of(config_of(asked)) + " for " +
                                  what);
            }
            result.algo = asked;
            return result;
        }
        const auto results = problem_.heuristic(kLtWorkspaceBytes);
        if (results.empty()) {
            throw Unsupported("cuBLASLt has no algorithm for " + what,
                              "choose another layout (int8 has nt), type or epilogue, or sizes in "
                              "multiples of 16");
        }
        return results.front();
    }

    LtProblem problem_;
    cublasLtMatmulAlgo_t algorithm_{};
    std::unique_ptr<CudaBuffer> workspace_;
    ops::Implementation implementation_;
};

}  // namespace

std::unique_ptr<ops::PreparedMatmul> prepare_lt(const work::Matmul& problem,
                                                const std::string& algorithm, int capability) {
    return std::make_unique<Prepared>(problem, algorithm, capability);
}

}  // namespace assay::cuda
