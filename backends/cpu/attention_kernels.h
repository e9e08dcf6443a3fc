// The inner loops of attention, once for each instruction set they are compiled for.
//
// Scores lie turned: a row of them is a key, its elements are queries. The softmax then runs along
// vectors without sums across their lanes, keys and values are read in the order of memory, and
// only the queries have to be turned, once for all the keys they meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "work/type.h"

namespace assay::cpu {

inline constexpr int kQueryTile = 64, kKeyTile = 128;

// Rows of `width` elements of `type` (fp32, bf16 or fp16), `stride` elements apart.
struct Rows {
    const void* data = nullptr;
    work::Type type = work::Type::fp32;
    std::int64_t stride = 0;
    int rows = 0, width = 0;
};

// What a product does with the C that it finds.
enum class Into {
    set,     // C = A B
    add,     // C = factor C + A B
    extend,  // the sums begin with C: as if the terms of both had been summed at once
};

// A is m x k, B is k x n. C's rows are written up to the next whole vector.
struct Product {
    int m = 0, n = 0, k = 0;
    const float* a = nullptr;
    std::int64_t a_stride = 0;
    bool a_turned = false;     // a[i, l] is a[l * a_stride + i], else a[i * a_stride + l]
    const float* b = nullptr;  // panels
    std::int64_t panel_stride = 0;
    float* c = nullptr;
    std::int64_t c_stride = 0;
    Into into = Into::set;
    const float* factor = nullptr;  // of each row of C; null: 1
};

// What each query of a tile sees of its keys, which count from 0: key j where lo <= j < hi of
// either span, and where `blocks` isn't 0.
struct SeenKeys {
    alignas(64) float lo[2][kQueryTile];
    alignas(64) float hi[2][kQueryTile];
    const float* blocks = nullptr;  // [keys][kQueryTile], or null

    bool sees(int query, int key) const {
        const auto j = static_cast<float>(key);
        const bool spans =
            (j >= lo[0][query] && j < hi[0][query]) || (j >= lo[1][query] && j < hi[1][query]);
        return spans && (blocks == nullptr || blocks[key * kQueryTile + query] != 0);
    }
};

// Scores of a tile in units of log2(e), so that exponentials are powers of two; queries past the
// last one hold finite numbers up to the next whole vector.
struct Scores {
    float* s = nullptr;  // [keys][kQueryTile]
    int keys = 0, queries = 0;
    // 0: none. Else s holds 2 log2(e) x, and the score is cap tanh(x).
    float cap = 0;
    const float* slope = nullptr;     // [kQueryTile]; null without ALiBi
    const float* position = nullptr;  // [kQueryTile], counted from the tile's first key
    const float* bias = nullptr;      // [keys][kQueryTile]; null without one
    const SeenKeys* seen = nullptr;   // null: all
};

// The softmax of queries whose keys come tile by tile; each [kQueryTile].
struct Softmax {
    float* largest = nullptr;  // -infinity before the first tile and while no key was seen
    float* sum = nullptr;      // of 2^(s - largest)
    float* shrink = nullptr;   // out: what earlier sums are to be multiplied with
};

// All addresses of floats are aligned to 64 bytes, and strides between rows that are loaded as
// vectors multiples of 16.
struct AttentionKernels {
    std::string_view name;  // "baseline", "avx2", "avx512"
    int panel;              // columns of a panel, 2 vectors; at most 32

    // These copy rows as fp32, and say whether all elements were finite. Row major, filled up with
    // zeros to a whole vector:
    bool (*rows)(const Rows& from, float* to, std::int64_t stride);
    // As panels of the columns: to[c / panel * panel_stride + r * panel + c % panel].
    bool (*panels)(const Rows& from, float* to, std::int64_t panel_stride);
    // Turned, times `factor`, as panels `wide` of the rows from `first` on:
    // to[(first + r) / wide * panel_stride + c * wide + (first + r) % wide].
    bool (*turned)(const Rows& from, float factor, int first, int wide, float* to,
                   std::int64_t panel_stride);
    // Writes n elements of `type`, rounded to nearest even.
    void (*narrow)(const float* from, float factor, int n, work::Type type, void* to);
    float (*dot)(const void* a, const void* b, work::Type type, int n);

    void (*product)(const Product& product);
    // c = factor c + part, as a product adds to what it finds.
    void (*add)(float* c, float factor, const float* part, int n);

    // s becomes 2^(s - largest), 0 where the query doesn't see the key.
    void (*softmax)(const Scores& scores, const Softmax& softmax);
    // s becomes p = 2^(s - lse), and d_p p (d_p - delta) times the modifier's slope; both 0 where
    // the query doesn't see the key. lse and delta are [kQueryTile].
    void (*gradient)(const Scores& scores, float* d_p, const float* lse, const float* delta);
};

extern const AttentionKernels kBaselineAttention;
extern const AttentionKernels kAvx2Attention;    // x86 only
extern const AttentionKernels kAvx512Attention;  // x86 only

// Those that this processor and system can run, best first.
std::vector<const AttentionKernels*> runnable_attention_kernels();

// The best, or the one that ASSAY_CPU_ISA names. Throws as chosen_instruction_set() does.
const AttentionKernels& attention_kernels();

}  // namespace assay::cpu
