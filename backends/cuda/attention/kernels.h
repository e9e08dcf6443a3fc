// The kernels' launches.
#pragma once

#include <cuda_runtime.h>

#include "cuda/attention/arguments.h"
#include "work/attention.h"

namespace assay::cuda {

// Sizes of heads (of q and k, of v and o) that kernels of 16-bit types are made for.
enum class Heads { upto64, upto128, upto192_128, any };

// What a block computes, and takes.
struct KernelFacts {
    const char* name;
    int queries, keys;           // of a tile
    int key_piece, value_piece;  // columns of a head that it has at once
    int threads;
    unsigned shared_bytes;
};

// The kernel of a problem's type and heads on a device that gives a block `shared_bytes`.
struct KernelChoice {
    work::Type type = work::Type::bf16;
    work::AttentionPass pass = work::AttentionPass::forward;
    Heads heads = Heads::any;
};
KernelChoice choose_kernel(const work::Attention& problem, work::AttentionPass pass,
                           std::int64_t shared_bytes);
KernelFacts facts_of(const KernelChoice& choice);
// Blocks of the kernel; its pieces are in `arguments`. Backward without those of single rows.
std::int64_t blocks_of(const KernelChoice& choice, const AttentionArguments& arguments);
// Sets the numbers of pieces.
void set_pieces(const KernelChoice& choice, AttentionArguments& arguments);
// Blocks of what goes by rows, which takes tile_rows of its own.
std::int64_t row_blocks(const AttentionArguments& arguments);
// For what goes by rows: `longest` queries are an entry's most.
AttentionArguments by_rows(const AttentionArguments& arguments, std::int64_t longest);

// Loads the code of all that the pass takes and lets it have its shared memory, so that no launch
// has to.
cudaError_t ready(const KernelChoice& choice);
void launch_attention(const KernelChoice& choice, const AttentionArguments& arguments,
                      cudaStream_t stream);
// delta and log-sum-exp of each row before; d_q from its sums after. Of by_rows().
void launch_prepare_rows(work::Type type, const AttentionArguments& arguments, cudaStream_t stream);
void launch_finish_rows(work::Type type, const AttentionArguments& arguments, cudaStream_t stream);

}  // namespace assay::cuda
