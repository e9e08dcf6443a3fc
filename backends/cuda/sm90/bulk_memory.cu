#include <algorithm>

#include "cuda/sm90/bulk_memory.h"

namespace assay::cuda::sm90 {
namespace {

constexpr unsigned kChunk = 16 * 1024;  // bytes of one bulk copy
constexpr int kStages = 6;
constexpr unsigned kSharedBytes = kChunk * kStages;  // two blocks a multiprocessor
constexpr int kBlocksPerUnit = 2;
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

__device__ void wait_barrier(std::uint64_t* barrier, unsigned phase) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(shared_address(barrier)),
        "r"(phase)
        : "memory");
}

__device__ void store_bulk(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until at most `pending` stores may still read shared memory.
template <int pending>
__device__ void wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

__device__ unsigned chunk_bytes(std::uint64_t chunk, std::uint64_t bytes) {
    const std::uint64_t left = bytes - chunk * kChunk;
    return left < kChunk ? static_cast<unsigned>(left) : kChunk;
}

// One thread keeps kStages loads and stores in flight. `bytes` is a multiple of 16.
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const char* from, char* to, std::uint64_t bytes, std::uint64_t rest, int passes) {
    extern __shared__ __align__(128) char stages[];
    __shared__ std::uint64_t barriers[kStages];
    if (blockIdx.x == 0 && threadIdx.x < rest / sizeof(float)) {
        reinterpret_cast<float*>(to + bytes)[threadIdx.x] =
            reinterpret_cast<const float*>(from + bytes)[threadIdx.x];
    }
    if (threadIdx.x != 0) return;
    for (auto& barrier : barriers) init_barrier(&barrier);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");

    const std::uint64_t chunks = (bytes + kChunk - 1) / kChunk;
    const std::uint64_t mine = chunks > blockIdx.x ? (chunks - blockIdx.x - 1) / gridDim.x + 1 : 0;
    const std::uint64_t total = mine * static_cast<std::uint64_t>(passes);
    const auto chunk_of = [&](std::uint64_t i) {
        return blockIdx.x + i % mine * std::uint64_t{gridDim.x};
    };
    const auto load = [&](std::uint64_t i) {
        const std::uint64_t chunk = chunk_of(i);
        const auto stage = static_cast<unsigned>(i % kStages);
        load_bulk(stages + stage * kChunk, from + chunk * kChunk, chunk_bytes(chunk, bytes),
                  barriers + stage);
    };
    // Loads run kAhead chunks before their stores; the other stages are being stored.
    constexpr std::uint64_t kAhead = kStages - 2;
    for (std::uint64_t i = 0; i < kAhead && i < total; ++i) load(i);
    for (std::uint64_t i = 0; i < total; ++i) {
        const auto stage = static_cast<unsigned>(i % kStages);
        wait_barrier(barriers + stage, static_cast<unsigned>(i / kStages) & 1);
        const std::uint64_t chunk = chunk_of(i);
        store_bulk(to + chunk * kChunk, stages + stage * kChunk, chunk_bytes(chunk, bytes));
        if (i + kAhead < total) {
            // The stage that is loaded next was stored kStages - kAhead chunks ago.
            wait_read<static_cast<int>(kStages - kAhead)>();
            load(i + kAhead);
        }
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void __launch_bounds__(kThreads)
    write_kernel(char* to, float value, std::uint64_t bytes, std::uint64_t rest, int passes) {
    extern __shared__ __align__(128) char stages[];
    for (unsigned i = threadIdx.x; i < kChunk / sizeof(float); i += kThreads) {
        reinterpret_cast<float*>(stages)[i] = value;
    }
    if (blockIdx.x == 0 && threadIdx.x < rest / sizeof(float)) {
        reinterpret_cast<float*>(to + bytes)[threadIdx.x] = value;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x != 0) return;
    const std::uint64_t chunks = (bytes + kChunk - 1) / kChunk;
    for (int pass = 0; pass < passes; ++pass) {
        for (std::uint64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
            store_bulk(to + chunk * kChunk, stages, chunk_bytes(chunk, bytes));
        }
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace

bool has_bulk(work::MemoryOp op) {
    return op == work::MemoryOp::copy || op == work::MemoryOp::write;
}

cudaError_t prepare_bulk() {
    return cudaFuncSetAttribute(copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                kSharedBytes);
}

void launch_bulk(const ops::MemoryRequest& request, const ops::MemoryOperands& operands,
                 int compute_units, cudaStream_t stream) {
    const std::uint64_t rest = request.bytes_per_array % 16;
    const std::uint64_t bytes = request.bytes_per_array - rest;
    const auto blocks = static_cast<unsigned>(
        std::clamp<std::uint64_t>((bytes + kChunk - 1) / kChunk, 1,
                                  static_cast<std::uint64_t>(compute_units) * kBlocksPerUnit));
    if (request.op == work::MemoryOp::copy) {
        copy_kernel<<<blocks, kThreads, kSharedBytes, stream>>>(
            static_cast<const char*>(operands.a), static_cast<char*>(operands.c), bytes, rest,
            request.passes);
    } else {
        write_kernel<<<blocks, kThreads, kChunk, stream>>>(
            static_cast<char*>(operands.c), work::kScalar, bytes, rest, request.passes);
    }
}

}  // namespace assay::cuda::sm90
