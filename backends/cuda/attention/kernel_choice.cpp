#include <algorithm>

#include <fmt/format.h>

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
    if (pass == AttentionPass::backward && choice.heads == Heads::upto64) {
        const KernelChoice large{problem.type, pass, Heads::upto64_large};
        if (facts_of(large).shared_bytes <= shared_bytes) return large;
    }
    if (facts_of(choice).shared_bytes > shared_bytes) choice.heads = Heads::any;
    return choice;
}

KernelFacts facts_of(const KernelChoice& choice) {
    if (choice.type == Type::fp32) {
        return {SimtShape::kSide,  SimtShape::kSide,    SimtShape::kPiece,
                SimtShape::kPiece, SimtShape::kThreads, SimtShape::kSharedBytes};
    }
    KernelFacts facts{};
    if (choice.pass == AttentionPass::forward) {
        with_forward_shape<kAnyHalf>(choice.heads,
                                     [&](auto shape) { facts = forward_facts<decltype(shape)>(); });
    } else if (choice.heads == Heads::any) {
        using Shape = BackwardPiecesShape<kAnyHalf>;
        facts = backward_facts<Shape>(Shape::kPiece);
    } else {
        with_backward_shape<kAnyHalf>(choice.heads, [&](auto shape) {
            using Shape = decltype(shape);
            facts = backward_facts<Shape>(Shape::kDim);
        });
    }
    return facts;
}

std::string name_of(const KernelChoice& choice) {
    const auto facts = facts_of(choice);
    const bool half = choice.type != Type::fp32;
    auto text = fmt::format("{} {}x{}", half ? "mma.sync" : "fp32", facts.queries, facts.keys);
    // Forward, fp32's scores are of whole heads.
    if (!half && choice.pass == AttentionPass::forward) return text;
    text += half && choice.heads != Heads::any ? " d" : " in pieces of ";
    text += fmt::format("{}", facts.key_piece);
    if (facts.value_piece != facts.key_piece) text += fmt::format("/{}", facts.value_piece);
    return text;
}

void set_pieces(const KernelChoice& choice, AttentionArguments& arguments) {
    const auto facts = facts_of(choice);
    arguments.key_pieces = pieces(arguments.dim, facts.key_piece);
    arguments.value_pieces = pieces(arguments.value_dim, facts.value_piece);
}

bool can_share(const KernelChoice& choice) {
    return choice.pass == AttentionPass::backward && choice.type != Type::fp32 &&
           choice.heads != Heads::any;
}

std::int64_t blocks_of(const KernelChoice& choice, const AttentionArguments& arguments) {
    const std::int64_t tiles = std::int64_t{arguments.tile_rows} * arguments.batch;
    if (choice.pass == AttentionPass::forward) {
        return tiles * arguments.heads * arguments.value_pieces;
    }
    const bool in_pieces = choice.type == Type::fp32 || choice.heads == Heads::any;
    const int jobs = in_pieces ? arguments.key_pieces + arguments.value_pieces : 1;
    return tiles * arguments.kv_heads * jobs * arguments.shares;
}

AttentionArguments by_rows(const AttentionArguments& arguments, std::int64_t longest) {
    auto own = arguments;
    own.tile_rows = static_cast<std::int32_t>((longest + kRowsOfBlock - 1) / kRowsOfBlock);
    return own;
}

std::int64_t row_blocks(const AttentionArguments& arguments) {
    return std::int64_t{arguments.tile_rows} * arguments.heads * arguments.batch;
}

std::int64_t key_row_blocks(const AttentionArguments& arguments) {
    return std::int64_t{arguments.tile_rows} * arguments.kv_heads * arguments.batch;
}

std::int64_t most_blocks(const KernelChoice& choice, const AttentionArguments& arguments,
                         std::int64_t queries, std::int64_t keys) {
    auto most = blocks_of(choice, arguments);
    if (choice.pass == AttentionPass::forward) return most;
    most = std::max(most, row_blocks(by_rows(arguments, queries)));
    return arguments.shares > 1 ? std::max(most, key_row_blocks(by_rows(arguments, keys))) : most;
}

}  // namespace assay::cuda
