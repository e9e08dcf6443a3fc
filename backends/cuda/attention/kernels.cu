#include "cuda/attention/half_launches.h"
#include "cuda/attention/kernels.h"
#include "cuda/attention/launch.h"
#include "cuda/attention/rows.h"
#include "cuda/attention/simt.h"

namespace assay::cuda {
namespace {

using work::AttentionPass;
using work::Type;

__global__ void __launch_bounds__(SimtShape::kThreads)
    simt_forward_kernel(const __grid_constant__ AttentionArguments arguments) {
    attend_simt(arguments, this_thread());
}

__global__ void __launch_bounds__(SimtShape::kThreads)
    simt_backward_kernel(const __grid_constant__ AttentionArguments arguments) {
    attend_back_simt(arguments, this_thread());
}

template <Type type>
__global__ void __launch_bounds__(kRowThreads)
    prepare_rows_kernel(const __grid_constant__ AttentionArguments arguments) {
    prepare_row<type>(arguments, this_thread());
}

template <Type type>
__global__ void __launch_bounds__(kRowThreads)
    finish_rows_kernel(const __grid_constant__ AttentionArguments arguments) {
    finish_row<type>(arguments, this_thread());
}

template <Type type>
__global__ void __launch_bounds__(kRowThreads)
    finish_keys_kernel(const __grid_constant__ AttentionArguments arguments) {
    finish_key_row<type>(arguments, this_thread());
}

AttentionKernel forward_of(const KernelChoice& choice) {
    if (choice.type == Type::fp32) return &simt_forward_kernel;
    return choice.type == Type::bf16 ? bf16_forward(choice.heads) : fp16_forward(choice.heads);
}

AttentionKernel backward_of(const KernelChoice& choice) {
    if (choice.type == Type::fp32) return &simt_backward_kernel;
    return choice.type == Type::bf16 ? bf16_backward(choice.heads) : fp16_backward(choice.heads);
}

AttentionKernel prepare_of(Type type) {
    if (type == Type::fp32) return &prepare_rows_kernel<Type::fp32>;
    if (type == Type::bf16) return &prepare_rows_kernel<Type::bf16>;
    return &prepare_rows_kernel<Type::fp16>;
}

AttentionKernel finish_of(Type type) {
    if (type == Type::fp32) return &finish_rows_kernel<Type::fp32>;
    if (type == Type::bf16) return &finish_rows_kernel<Type::bf16>;
    return &finish_rows_kernel<Type::fp16>;
}

// Of 16-bit types.
AttentionKernel finish_keys_of(Type type) {
    if (type == Type::bf16) return &finish_keys_kernel<Type::bf16>;
    return &finish_keys_kernel<Type::fp16>;
}

AttentionKernel main_of(const KernelChoice& choice) {
    return choice.pass == AttentionPass::forward ? forward_of(choice) : backward_of(choice);
}

}  // namespace

cudaError_t ready(const KernelChoice& choice) {
    auto status = ready(main_of(choice), facts_of(choice).shared_bytes);
    if (status != cudaSuccess || choice.pass == AttentionPass::forward) return status;
    status = ready(prepare_of(choice.type), 0);
    if (status == cudaSuccess) status = ready(finish_of(choice.type), 0);
    if (status != cudaSuccess || !can_share(choice)) return status;
    return ready(finish_keys_of(choice.type), 0);
}

cudaError_t launch_attention(const KernelChoice& choice, const AttentionArguments& arguments,
                             cudaStream_t stream) {
    const auto facts = facts_of(choice);
    return launch(main_of(choice), blocks_of(choice, arguments), facts.threads, facts.shared_bytes,
                  arguments, stream);
}

cudaError_t launch_prepare_rows(Type type, const AttentionArguments& arguments,
                                cudaStream_t stream) {
    return launch(prepare_of(type), row_blocks(arguments), kRowThreads, 0, arguments, stream);
}

cudaError_t launch_finish_keys(Type type, const AttentionArguments& arguments,
                               cudaStream_t stream) {
    return launch(finish_keys_of(type), key_row_blocks(arguments), kRowThreads, 0, arguments,
                  stream);
}

cudaError_t launch_finish_rows(Type type, const AttentionArguments& arguments,
                               cudaStream_t stream) {
    return launch(finish_of(type), row_blocks(arguments), kRowThreads, 0, arguments, stream);
}

}  // namespace assay::cuda
