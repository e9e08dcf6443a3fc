// What attention kernels are told of a problem.
#pragma once

#include <cstdint>
#include <limits>

#include "work/host_device.h"

namespace assay::cuda {

// A tensor's strides in elements; its entries' places are in Entry.
struct RowsOf {
    void* data = nullptr;
    std::int64_t head = 0, row = 0;
    // Loads: 16 bytes at once; stores: two elements at once. Else one by one, as addresses and
    // strides don't allow for more.
    bool wide = false;
};

// One entry of the batch.
struct Entry {
    std::int64_t q = 0, k = 0, v = 0, o = 0, lse = 0;  // elements from the address to row 0, head 0
    std::int64_t row = 0, key_row = 0;                 // rows of queries, and of keys, before it
    std::int64_t tiles = 0;                            // where its plan begins in `first`
    std::int64_t sights = 0;                           // where its rows begin in `sights`
    std::int32_t queries = 0, keys = 0;
    std::int32_t shift = 0;  // from a query to the key that it stands at
};

// The keys that a query sees, blocks aside: two spans of a start and a count.
struct alignas(16) Sight {
    std::int32_t start[2] = {};
    std::uint32_t count[2] = {};

    ASSAY_HOST_DEVICE constexpr bool sees(std::int32_t key) const {
        return static_cast<std::uint32_t>(key - start[0]) < count[0] ||
               static_cast<std::uint32_t>(key - start[1]) < count[1];
    }
};

// Tiles that are computed, as key tile (backward: query tile) x 2, + 1 where no element needs to
// be tested: all that exist are seen, and none lies beyond the keys.
ASSAY_HOST_DEVICE constexpr std::int32_t coded_tile(std::int32_t tile, bool full) {
    return 2 * tile + (full ? 1 : 0);
}

// A row of a gradient's sums has a multiple of these elements.
inline constexpr std::int64_t kSumAlignment = 8;

struct AttentionArguments {
    RowsOf q, k, v, o, d_o, d_q, d_k, d_v;
    float* lse = nullptr;
    std::int64_t lse_head = 0, lse_row = 0;
    const void* bias = nullptr;
    std::int64_t bias_head = 0, bias_row = 0;

    const Entry* entries = nullptr;
    const std::int64_t* first = nullptr;  // where a tile row's tiles begin
    const std::int32_t* tiles = nullptr;
    const Sight* sights = nullptr;
    // Bit b of word w of row r: query block r sees key block 32 w + b. Null without blocks.
    const std::uint32_t* blocks = nullptr;
    std::int32_t block_size = 1, block_words = 0;

    std::int32_t batch = 0, heads = 0, kv_heads = 0, dim = 0, value_dim = 0;
    std::int32_t tile_rows = 0;                     // of the entry with the most
    std::int32_t key_pieces = 0, value_pieces = 0;  // pieces of a head that blocks share

    float scale = 0;
    float soft_cap = 0, scale_to_cap = 0;  // scale / soft_cap
    bool alibi = false;
    // Something is added to scores, or the largest product isn't the largest score.
    bool shifted = false;

    // Backward, by head and row of the whole batch: log-sum-exp to base 2, delta, and the sum that
    // becomes d_q, `sum_row` elements a row.
    std::int64_t rows = 0, sum_row = 0;
    float* lse_base2 = nullptr;
    float* delta = nullptr;
    float* sum_q = nullptr;

    // Backward: blocks among which the steps (a tile of queries of a head) over a tile of keys are
    // shared, and how many steps each takes at most. Of more than one, d_k and d_v are sums in
    // memory too, by key/value head and row of the whole batch.
    std::int32_t shares = 1, share_steps = std::numeric_limits<std::int32_t>::max();
    std::int64_t key_rows = 0, sum_value_row = 0;
    float *sum_k = nullptr, *sum_v = nullptr;
};

}  // namespace assay::cuda
