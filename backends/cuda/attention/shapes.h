// The kernels there are, by the sizes of heads they take.
#pragma once

#include "cuda/attention/backward.h"
#include "cuda/attention/backward_pieces.h"
#include "cuda/attention/forward.h"
#include "cuda/attention/kernels.h"
#include "cuda/attention/simt.h"

namespace assay::cuda {

// Calls `use` with an object of the shape's type; of 16-bit types.
template <work::Type type, class Use>
void with_forward_shape(Heads heads, Use use) {
    switch (heads) {
        case Heads::upto64:
        case Heads::upto64_large:
            return use(ForwardShape<type, 64, 64, 128, 2, false>{});
        case Heads::upto128:
            return use(ForwardShape<type, 128, 128, 64, 2, false>{});
        case Heads::upto192_128:
            return use(ForwardShape<type, 192, 128, 64, 2, false>{});
        case Heads::any:
            break;
    }
    use(ForwardShape<type, 64, 256, 64, 1, true>{});
}

// Not of heads in pieces.
template <work::Type type, class Use>
void with_backward_shape(Heads heads, Use use) {
    if (heads == Heads::upto64) return use(BackwardShape<type, 64, 64>{});
    if (heads == Heads::upto64_large) return use(BackwardShape<type, 64, 128>{});
    use(BackwardShape<type, 128, 64>{});
}

template <class Shape>
constexpr KernelFacts forward_facts() {
    return {Shape::kQueries,  Shape::kKeys,    Shape::kDim,
            Shape::kValueDim, Shape::kThreads, Shape::kSharedBytes};
}

template <class Shape>
constexpr KernelFacts backward_facts(int piece) {
    return {Shape::kQueries, Shape::kKeys, piece, piece, Shape::kThreads, Shape::kSharedBytes};
}

}  // namespace assay::cuda
