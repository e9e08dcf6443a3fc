#include <algorithm>

#include "cuda/attention/shapes.h"

namespace assay::cuda {
namespace {

using work::AttentionPass;
using work::Type;

// Sizes don't depend on which 16-bit type it is.
constexpr Type kAnyHalf = Type::bf16;

Heads smallest(const work::Attention& problem, AttentionPass pass) {
    const auto larger = std::max(problem.dim, problem.value_dim);
    if (larger <= 64) return Heads::upto64;
    if (larger <= 128) return Heads::upto128;
    const bool forward = pass == AttentionPass::forward;
    if (forward && problem.dim <= 192 && problem.value_dim <= 128) return Heads::upto192_128;
    return Heads::any;
}

int pieces(int columns, int piece) {
    return (columns + piece - 1) / piece;
}

}  // namespace

KernelChoice choose_kernel(const work::Attention& problem, AttentionPass pass,
                           std::int64_t shared_bytes) {
    KernelChoice choice{problem.type, pass, smallest(problem, pass)};
    if (facts_of(choice).shared_bytes > shared_bytes) choice.heads = Heads::any;
    return choice;
}

KernelFacts facts_of(const KernelChoice& choice) {
    const bool forward = choice.pass == AttentionPass::forward;
    if (choice.type == Type::fp32) {
        return {forward ? "fp32 64x64" : "fp32 64x64 in pieces of 64",
                SimtShape::kSide,
                SimtShape::kSide,
                SimtShape::kPiece,
                SimtShape::kPiece,
                SimtShape::kThreads,
                SimtShape::kSharedBytes};
    }
    KernelFacts facts{};
    if (forward) {
        with_forward_shape<kAnyHalf>(choice.heads, [&](auto shape) {
            using Shape = decltype(shape);
            const char* name = choice.heads == Heads::upto64    ? "mma.sync 128x64 d64"
                               : choice.heads == Heads::upto128 ? "mma.sync 128x64 d128"
                               : choice.heads == Heads::upto192_128
                                   ? "mma.sync 128x64 d192/128"
                                   : "mma.sync 64x64 in pieces of 64/256";
            facts = forward_facts<Shape>(name);
        });
    } else if (choice.heads == Heads::any) {
        using Shape = BackwardPiecesShape<kAnyHalf>;
        facts = backward_facts<Shape>("mma.sync 64x64 in pieces of 128", Shape::kPiece);
    } else {
        with_backward_shape<kAnyHalf>(choice.heads, [&](auto shape) {
            using Shape = decltype(shape);
            facts = backward_facts<Shape>(
                choice.heads == Heads::upto64 ? "mma.sync 64x128 d64" : "mma.sync 64x128 d128",
                Shape::kDim);
        });
    }
    return facts;
}

void set_pieces(const KernelChoice& choice, AttentionArguments& arguments) {
    const auto facts = facts_of(choice);
    arguments.key_pieces = pieces(arguments.dim, facts.key_piece);
    arguments.value_pieces = pieces(arguments.value_dim, facts.value_piece);
}

std::int64_t blocks_of(const KernelChoice& choice, const AttentionArguments& arguments) {
    const std::int64_t tiles = std::int64_t{arguments.tile_rows} * arguments.batch;
    if (choice.pass == AttentionPass::forward) {
        return tiles * arguments.heads * arguments.value_pieces;
    }
    const bool in_pieces = choice.type == Type::fp32 || choice.heads == Heads::any;
    const int jobs = in_pieces ? arguments.key_pieces + arguments.value_pieces : 1;
    return tiles * arguments.kv_heads * jobs;
}

AttentionArguments by_rows(const AttentionArguments& arguments, std::int64_t longest) {
    auto own = arguments;
    own.tile_rows = static_cast<std::int32_t>((longest + kRowsOfBlock - 1) / kRowsOfBlock);
    return own;
}

std::int64_t row_blocks(const AttentionArguments& arguments) {
    return std::int64_t{arguments.tile_rows} * arguments.heads * arguments.batch;
}

}  // namespace assay::cuda
