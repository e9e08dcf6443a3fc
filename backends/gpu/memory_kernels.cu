#include <algorithm>

#include "gpu/memory_kernels.h"

namespace assay::gpu {
namespace {

using work::MemoryOp;

constexpr int kThreads = 512;
constexpr int kBlocksPerUnit = 4;

// Independent 16-byte accesses in flight a thread and array.
constexpr int unroll(MemoryOp op) {
    return op == MemoryOp::read ? 4 : 2;
}
constexpr std::uint64_t tile_of(MemoryOp op) {
    return static_cast<std::uint64_t>(kThreads) * unroll(op);
}

// Tiles that a block does, one after the other, before it ends: small blocks in the order of
// addresses are 4 to 7 % faster on an H200 than blocks that stay and stride over the array, since
// neighbours then work on the same DRAM pages. A sum costs as much as half a tile, so that `read`
// does more of them.
constexpr int tiles_per_block(MemoryOp op) {
    return op == MemoryOp::read ? 8 : 1;
}

// Where an array is gone over several times in a call, blocks stay.
unsigned block_count(const ops::MemoryRequest& request, int compute_units) {
    const auto divided = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    const std::uint64_t vectors = request.bytes_per_array / sizeof(float4);
    const std::uint64_t tiles = divided(vectors, tile_of(request.op));
    const auto staying = static_cast<std::uint64_t>(compute_units) * kBlocksPerUnit;
    const std::uint64_t wanted =
        request.passes > 1
            ? std::min(tiles, staying)
            : divided(tiles, static_cast<std::uint64_t>(tiles_per_block(request.op)));
    constexpr std::uint64_t kMost = 0x7FFFFFFF;  // of a grid
    return static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, kMost));
}

struct Arrays {
    const float4* a;
    const float4* b;
    float4* c;
    double* sums;
};

template <bool once>
__device__ float4 load(const float4* from) {
    if constexpr (once) return load_once(from);
    return *from;
}

template <bool once>
__device__ void store(float4* to, float4 value) {
    if constexpr (once) {
        store_once(to, value);
    } else {
        *to = value;
    }
}

template <MemoryOp op>
__device__ float combined(float a, float b) {
    constexpr float s = work::kScalar;
    if constexpr (op == MemoryOp::write) return s;
    if constexpr (op == MemoryOp::scale) return s * a;
    if constexpr (op == MemoryOp::add) return a + b;
    if constexpr (op == MemoryOp::triad) return a + s * b;
    return a;
}

template <MemoryOp op>
__device__ float4 combined(float4 a, float4 b) {
    return {combined<op>(a.x, b.x), combined<op>(a.y, b.y), combined<op>(a.z, b.z),
            combined<op>(a.w, b.w)};
}

// Reads of a tile are all issued before the first result is used.
template <MemoryOp op, bool once, bool whole>
__device__ void do_tile(const Arrays& arrays, std::uint64_t tile, std::uint64_t vectors,
                        float4& sum) {
    constexpr int kUnroll = unroll(op);
    constexpr bool reads_a = op != MemoryOp::write;
    constexpr bool reads_b = op == MemoryOp::add || op == MemoryOp::triad;
    const std::uint64_t first = tile * tile_of(op) + threadIdx.x;
    float4 a[kUnroll] = {}, b[kUnroll] = {};
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
        const std::uint64_t at = first + i * kThreads;
        if (!whole && at >= vectors) continue;
        if constexpr (reads_a) a[i] = load<once>(arrays.a + at);
        if constexpr (reads_b) b[i] = load<once>(arrays.b + at);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
        const std::uint64_t at = first + i * kThreads;
        if (!whole && at >= vectors) continue;
        if constexpr (op == MemoryOp::read) {
            sum.x += a[i].x;
            sum.y += a[i].y;
            sum.z += a[i].z;
            sum.w += a[i].w;
        } else {
            store<once>(arrays.c + at, combined<op>(a[i], b[i]));
        }
    }
}

// A tree over shared memory: no assumption on the width of a warp.
__device__ void keep_sum(double mine, double* to) {
    __shared__ double partial[kThreads];
    partial[threadIdx.x] = mine;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *to = partial[0];
}

template <MemoryOp op, bool once>
__device__ void do_any_tile(const Arrays& arrays, std::uint64_t tile, std::uint64_t vectors,
                            float4& sum) {
    if ((tile + 1) * tile_of(op) <= vectors) {
        do_tile<op, once, true>(arrays, tile, vectors, sum);
    } else {
        do_tile<op, once, false>(arrays, tile, vectors, sum);
    }
}

// The floats after the last whole 16 bytes.
template <MemoryOp op>
__device__ void do_rest(const Arrays& arrays, std::uint64_t elements, float4& sum) {
    constexpr bool reads_b = op == MemoryOp::add || op == MemoryOp::triad;
    const std::uint64_t at = elements / 4 * 4 + threadIdx.x;
    if (blockIdx.x != 0 || at >= elements) return;
    const float a = op == MemoryOp::write ? 0 : reinterpret_cast<const float*>(arrays.a)[at];
    const float b = reads_b ? reinterpret_cast<const float*>(arrays.b)[at] : 0;
    if constexpr (op == MemoryOp::read) {
        sum.x += a;
    } else {
        reinterpret_cast<float*>(arrays.c)[at] = combined<op>(a, b);
    }
}

template <MemoryOp op, bool once>
__global__ void __launch_bounds__(kThreads, kBlocksPerUnit)
    memory_kernel(Arrays arrays, std::uint64_t elements, int passes) {
    const std::uint64_t vectors = elements / 4;
    const std::uint64_t tiles = (vectors + tile_of(op) - 1) / tile_of(op);
    double total = 0;
    for (int pass = 0; pass < passes; ++pass) {
        float4 sum = {};
        if (passes == 1) {
            const std::uint64_t first = std::uint64_t{blockIdx.x} * tiles_per_block(op);
            for (std::uint64_t i = first; i < first + tiles_per_block(op) && i < tiles; ++i) {
                do_any_tile<op, once>(arrays, i, vectors, sum);
            }
        } else {
            // Each pass begins at another tile, so that a multiprocessor doesn't find its last
            // pass's data in its own cache.
            for (std::uint64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
                const std::uint64_t tile = (i + pass * std::uint64_t{7}) % tiles;
                do_any_tile<op, once>(arrays, tile, vectors, sum);
            }
        }
        do_rest<op>(arrays, elements, sum);
        total += static_cast<double>(sum.x) + sum.y + sum.z + sum.w;
    }
    if constexpr (op == MemoryOp::read) keep_sum(total, arrays.sums + blockIdx.x);
}

template <MemoryOp op>
void launch(const ops::MemoryRequest& request, const Arrays& arrays, unsigned blocks,
            Stream stream) {
    const std::uint64_t elements = request.bytes_per_array / sizeof(float);
    if (request.in_cache) {
        memory_kernel<op, false><<<blocks, kThreads, 0, stream>>>(arrays, elements, request.passes);
    } else {
        memory_kernel<op, true><<<blocks, kThreads, 0, stream>>>(arrays, elements, request.passes);
    }
}

}  // namespace

std::uint64_t memory_sums(const ops::MemoryRequest& request, int compute_units) {
    return request.op == MemoryOp::read ? block_count(request, compute_units) : 0;
}

void launch_memory(const ops::MemoryRequest& request, const ops::MemoryOperands& operands,
                   double* sums, int compute_units, Stream stream) {
    const Arrays arrays{static_cast<const float4*>(operands.a),
                        static_cast<const float4*>(operands.b), static_cast<float4*>(operands.c),
                        sums};
    const unsigned blocks = block_count(request, compute_units);
    switch (request.op) {
        case MemoryOp::copy:
            return launch<MemoryOp::copy>(request, arrays, blocks, stream);
        case MemoryOp::read:
            return launch<MemoryOp::read>(request, arrays, blocks, stream);
        case MemoryOp::write:
            return launch<MemoryOp::write>(request, arrays, blocks, stream);
        case MemoryOp::scale:
            return launch<MemoryOp::scale>(request, arrays, blocks, stream);
        case MemoryOp::add:
            return launch<MemoryOp::add>(request, arrays, blocks, stream);
        case MemoryOp::triad:
            return launch<MemoryOp::triad>(request, arrays, blocks, stream);
    }
}

}  // namespace assay::gpu
