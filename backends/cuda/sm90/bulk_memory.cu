#include <algorithm>

#include "cuda/sm90/bulk_memory.h"

namespace assay::cuda::sm90 {
namespace {

constexpr unsigned kChunk = 4 * 1024;  // bytes of one bulk copy
constexpr int kStages = 4;
constexpr unsigned kTile =
    kChunk * kStages;        // of a block of `copy`: it loads all, stores, and ends
constexpr int kStores = 16;  // of a block of `write`
constexpr int kThreads = 32;

__device__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void init_barrier(std::uint64_t* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)));
}

__device__ void load_bulk(void* to, const void* from, unsigned bytes, std::uint64_t* barrier) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

// Until the barrier's first phase is over.
__device__ void wait_barrier(std::uint64_t* barrier) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again%=:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
        "@!done bra again%=;\n"
        "}\n" ::"r"(shared_address(barrier))
        : "memory");
}

__device__ void store_bulk(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ unsigned chunk_bytes(std::uint64_t at, std::uint64_t bytes) {
    return bytes - at < kChunk ? static_cast<unsigned>(bytes - at) : kChunk;
}

// `bytes` is a multiple of 16; the `rest` after them, under 16, goes by ordinary accesses. Small
// blocks in the order of addresses are 4 % faster on an H200 than blocks that stay.
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const char* from, char* to, std::uint64_t bytes, std::uint64_t rest) {
    __shared__ __align__(128) char stages[kTile];
    __shared__ std::uint64_t barriers[kStages];
    if (blockIdx.x == 0 && threadIdx.x < rest / sizeof(float)) {
        reinterpret_cast<float*>(to + bytes)[threadIdx.x] =
            reinterpret_cast<const float*>(from + bytes)[threadIdx.x];
    }
    if (threadIdx.x != 0) return;
    for (auto& barrier : barriers) init_barrier(&barrier);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    const std::uint64_t first = blockIdx.x * std::uint64_t{kTile};
    for (int i = 0; i < kStages; ++i) {
        const std::uint64_t at = first + i * kChunk;
        if (at < bytes)
            load_bulk(stages + i * kChunk, from + at, chunk_bytes(at, bytes), barriers + i);
    }
    for (int i = 0; i < kStages; ++i) {
        const std::uint64_t at = first + i * kChunk;
        if (at >= bytes) break;
        wait_barrier(barriers + i);
        store_bulk(to + at, stages + i * kChunk, chunk_bytes(at, bytes));
    }
    // Shared memory must live until it was read.
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

__global__ void __launch_bounds__(kThreads)
    write_kernel(char* to, float value, std::uint64_t bytes, std::uint64_t rest) {
    __shared__ __align__(128) float chunk[kChunk / sizeof(float)];
    for (unsigned i = threadIdx.x; i < kChunk / sizeof(float); i += kThreads) chunk[i] = value;
    if (blockIdx.x == 0 && threadIdx.x < rest / sizeof(float)) {
        reinterpret_cast<float*>(to + bytes)[threadIdx.x] = value;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x != 0) return;
    const std::uint64_t first = blockIdx.x * std::uint64_t{kChunk} * kStores;
    for (int i = 0; i < kStores; ++i) {
        const std::uint64_t at = first + i * kChunk;
        if (at < bytes) store_bulk(to + at, chunk, chunk_bytes(at, bytes));
    }
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

unsigned blocks(std::uint64_t bytes, std::uint64_t each) {
    return static_cast<unsigned>(std::max<std::uint64_t>(1, (bytes + each - 1) / each));
}

}  // namespace

bool has_bulk(work::MemoryOp op) {
    return op == work::MemoryOp::copy || op == work::MemoryOp::write;
}

void launch_bulk(const ops::MemoryRequest& request, const ops::MemoryOperands& operands,
                 cudaStream_t stream) {
    const std::uint64_t rest = request.bytes_per_array % 16;
    const std::uint64_t bytes = request.bytes_per_array - rest;
    if (request.op == work::MemoryOp::copy) {
        copy_kernel<<<blocks(bytes, kTile), kThreads, 0, stream>>>(
            static_cast<const char*>(operands.a), static_cast<char*>(operands.c), bytes, rest);
    } else {
        write_kernel<<<blocks(bytes, std::uint64_t{kChunk} * kStores), kThreads, 0, stream>>>(
            static_cast<char*>(operands.c), work::kScalar, bytes, rest);
    }
}

}  // namespace assay::cuda::sm90
