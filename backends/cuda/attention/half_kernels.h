// The kernels of one 16-bit type, launched; for a .cu file each, so that they compile side by side.
#pragma once

#include "cuda/attention/launch.h"
#include "cuda/attention/shapes.h"

namespace assay::cuda {

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    forward_kernel(const __grid_constant__ AttentionArguments arguments) {
    attend<Shape>(arguments, this_thread());
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    backward_kernel(const __grid_constant__ AttentionArguments arguments) {
    attend_back<Shape>(arguments, this_thread());
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    backward_pieces_kernel(const __grid_constant__ AttentionArguments arguments) {
    attend_back_in_pieces<Shape>(arguments, this_thread());
}

// Calls `use` with the kernel.
template <work::Type type, class Use>
void with_forward_kernel(Heads heads, Use use) {
    with_forward_shape<type>(heads, [&](auto shape) { use(&forward_kernel<decltype(shape)>); });
}

template <work::Type type, class Use>
void with_backward_kernel(Heads heads, Use use) {
    if (heads == Heads::any) return use(&backward_pieces_kernel<BackwardPiecesShape<type>>);
    with_backward_shape<type>(heads, [&](auto shape) { use(&backward_kernel<decltype(shape)>); });
}

}  // namespace assay::cuda
