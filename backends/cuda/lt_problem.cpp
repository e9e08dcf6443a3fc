#include "cuda/lt_problem.h"

#include "cuda/check.h"

namespace assay::cuda {

namespace {

using work::Type;

cublasLtEpilogue_t epilogue(work::Epilogue epilogue) {
    switch (epilogue) {
        case work::Epilogue::none:
            return CUBLASLT_EPILOGUE_DEFAULT;
        case work::Epilogue::bias:
            return CUBLASLT_EPILOGUE_BIAS;
        case work::Epilogue::gelu:
            return CUBLASLT_EPILOGUE_GELU;
        case work::Epilogue::bias_gelu:
            return CUBLASLT_EPILOGUE_GELU_BIAS;
    }
    return CUBLASLT_EPILOGUE_DEFAULT;
}

}  // namespace

LtProblem::LtProblem(const work::Matmul& p)
    : library_(CublasLt::instance()),
      problem_(p),
      type_c_(work::is_fp8(p.output) ? Type::bf16 : p.output),
      factors_(p),
      description_(nullptr, library_.matmul_desc_destroy),
      first_(layout(work::type_b(p), p.k, p.n, work::b_transposed(p.layout))),
      second_(layout(p.operand, p.m, p.k, work::a_transposed(p.layout))),
      c_(layout(type_c_, p.m, p.n, false)),
      d_(layout(p.output, p.m, p.n, false)) {
    cublasLtMatmulDesc_t made = nullptr;
    library_.check(library_.matmul_desc_create(&made, compute_type(p), scale_type(p)),
                   "cublasLtMatmulDescCreate for " + describe(p));
    description_.reset(made);
    set(CUBLASLT_MATMUL_DESC_TRANSA, work::b_transposed(p.layout) ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, work::a_transposed(p.layout) ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue(p.epilogue));
    if (work::has_bias(p.epilogue)) {
        set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type(type_c_));
    }
    if (work::is_fp8(p.operand)) set_scales();
}

template <class Value>
void LtProblem::set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    library_.check(
        library_.matmul_desc_set_attribute(description_.get(), attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute for " + describe(problem_));
}

void LtProblem::set_scales() {
    // Each aligned to 16 bytes, which the library wants of its scales.
    struct alignas(16) Scale {
        float value;
    };
    const Scale values[] = {{problem_.scale_b}, {problem_.scale_a}};
    scales_ = std::make_unique<CudaBuffer>(sizeof values);
    ASSAY_CUDA(cudaMemcpy(scales_->data(), values, sizeof values, cudaMemcpyHostToDevice));
    const auto* scales = static_cast<const Scale*>(scales_->data());
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(scales));
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, static_cast<const void*>(scales + 1));
    const auto fast =
        static_cast<std::int8_t>(problem_.accumulation == work::Accumulation::fast ? 1 : 0);
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast);
}

// A row-major matrix of rows x columns is a column-major one of columns x rows. Transposed in
// memory, its rows are contiguous instead.
LtProblem::Layout LtProblem::layout(Type type, std::int64_t rows, std::int64_t columns,
                                    bool transposed) const {
    const auto contiguous = transposed ? rows : columns;
    const auto others = transposed ? columns : rows;
    cublasLtMatrixLayout_t made = nullptr;
    library_.check(library_.matrix_layout_create(&made, data_type(type),
                                                 static_cast<std::uint64_t>(contiguous),
                                                 static_cast<std::uint64_t>(others), contiguous),
                   "cublasLtMatrixLayoutCreate for " + describe(problem_));
    Layout owned(made, library_.matrix_layout_destroy);
    const auto batch = static_cast<std::int32_t>(problem_.batch);
    const std::int64_t stride = rows * columns;
    library_.matrix_layout_set_attribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                         sizeof batch);
    library_.matrix_layout_set_attribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                         sizeof stride);
    return owned;
}

void LtProblem::run(const ops::MatmulOperands& operands, const cublasLtMatmulAlgo_t& algorithm,
                    void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
    if (operands.bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
    library_.check(library_.matmul(library_.handle(), description_.get(), factors_.alpha(),
                                   operands.b, first_.get(), operands.a, second_.get(),
                                   factors_.beta(), operands.c, c_.get(), operands.c, d_.get(),
                                   &algorithm, workspace, workspace_bytes, stream),
                   "cublasLtMatmul of " + describe(problem_));
}

std::vector<cublasLtMatmulHeuristicResult_t> LtProblem::heuristic(
    std::size_t workspace_bytes) const {
    cublasLtMatmulPreference_t preference = nullptr;
    library_.check(library_.matmul_preference_create(&preference),
                   "cublasLtMatmulPreferenceCreate");
    library_.matmul_preference_set_attribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace_bytes, sizeof workspace_bytes);
    // Where K is split, partial sums stay in the accumulate type: rounded to 16 bits before they
    // are added, they would give another product than the one asked for.
    const std::uint32_t reductions =
        CUBLASLT_REDUCTION_SCHEME_INPLACE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    library_.matmul_preference_set_attribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                             &reductions, sizeof reductions);
    constexpr int kMost = 200;  // more than it was ever seen to give
    std::vector<cublasLtMatmulHeuristicResult_t> results(kMost);
    int count = 0;
    const auto status = library_.matmul_algo_get_heuristic(
        library_.handle(), description_.get(), first_.get(), second_.get(), c_.get(), d_.get(),
        preference, kMost, results.data(), &count);
    library_.matmul_preference_destroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
    library_.check(status, "cublasLtMatmulAlgoGetHeuristic for " + describe(problem_));
    results.resize(static_cast<std::size_t>(count));
    std::erase_if(results,
                  [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
    return results;
}

bool LtProblem::check(const cublasLtMatmulAlgo_t& algorithm,
                      cublasLtMatmulHeuristicResult_t& result) const {
    return library_.matmul_algo_check(library_.handle(), description_.get(), first_.get(),
                                      second_.get(), c_.get(), d_.get(), &algorithm,
                                      &result) == CUBLAS_STATUS_SUCCESS;
}

std::vector<int> LtProblem::algorithm_ids() const {
    std::vector<int> ids(1000);
    int count = 0;
    const auto& p = problem_;
    const auto status = library_.matmul_algo_get_ids(
        library_.handle(), compute_type(p), scale_type(p), data_type(work::type_b(p)),
        data_type(p.operand), data_type(type_c_), data_type(p.output), static_cast<int>(ids.size()),
        ids.data(), &count);
    if (status != CUBLAS_STATUS_SUCCESS) return {};
    ids.resize(static_cast<std::size_t>(count));
    return ids;
}

bool LtProblem::init(int id, cublasLtMatmulAlgo_t& algorithm) const {
    const auto& p = problem_;
    return library_.matmul_algo_init(library_.handle(), compute_type(p), scale_type(p),
                                     data_type(work::type_b(p)), data_type(p.operand),
                                     data_type(type_c_), data_type(p.output), id,
                                     &algorithm) == CUBLAS_STATUS_SUCCESS;
}

}  // namespace assay::cuda
