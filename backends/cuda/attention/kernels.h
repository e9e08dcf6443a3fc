// The kernels' launches.
#pragma once

#include <limits>
#include <string>

#include <cuda_runtime.h>

#include "cuda/attention/arguments.h"
#include "work/attention.h"

namespace assay::cuda {

// Sizes of heads (of q and k, of v and o) that kernels of 16-bit types are made for.
// Backward, those up to 64 take more queries at a time where a block has the shared memory.
enum class Heads { upto64, upto64_large, upto128, upto192_128, any };

// What a block computes, and takes.
struct KernelFacts {
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
// "mma.sync 128x64 d128": the instruction, the tile's queries and keys, the columns of a head.
std::string name_of(const KernelChoice& choice);
// Whether blocks of the kernel can share a tile of keys.
bool can_share(const KernelChoice& choice);
// Blocks of the kernel; its pieces are in `arguments`. Backward without those of single rows.
std::int64_t blocks_of(const KernelChoice& choice, const AttentionArguments& arguments);
// Sets the numbers of pieces.
void set_pieces(const KernelChoice& choice, AttentionArguments& arguments);
// Blocks of what goes by rows of queries, or of keys, which takes tile_rows of its own.
std::int64_t row_blocks(const AttentionArguments& arguments);
std::int64_t key_row_blocks(const AttentionArguments& arguments);
// A launch takes no more.
inline constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();
// Those of the pass's largest launch, where entries have at most so many queries and keys.
std::int64_t most_blocks(const KernelChoice& choice, const AttentionArguments& arguments,
                         std::int64_t queries, std::int64_t keys);
// For what goes by rows: `longest` is the most that an entry has.
AttentionArguments by_rows(const AttentionArguments& arguments, std::int64_t longest);

// Loads the code of all that the pass takes and lets it have its shared memory, so that no launch
// has to.
cudaError_t ready(const KernelChoice& choice);
// They return what the launch did; with more than kMostBlocks, an error without one.
cudaError_t launch_attention(const KernelChoice& choice, const AttentionArguments& arguments,
                             cudaStream_t stream);
// delta and log-sum-exp of each row before; d_q from its sums after. Of by_rows().
cudaError_t launch_prepare_rows(work::Type type, const AttentionArguments& arguments,
                                cudaStream_t stream);
cudaError_t launch_finish_rows(work::Type type, const AttentionArguments& arguments,
                               cudaStream_t stream);
// d_k and d_v from their sums, where blocks share tiles of keys.
cudaError_t launch_finish_keys(work::Type type, const AttentionArguments& arguments,
                               cudaStream_t stream);

}  // namespace assay::cuda
