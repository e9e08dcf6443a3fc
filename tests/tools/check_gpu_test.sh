#!/usr/bin/env bash
# tools/check_gpu.sh finds each kind of planted assumption, and nothing in good kernels.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/scratch.sh"
check=$root/tools/check_gpu.sh

good_tree() {
    rm -rf "$scratch/backends"
    mkdir -p "$scratch/backends/gpu" "$scratch/backends/cuda"
    echo '#include <cuda_runtime.h>' >"$scratch/backends/gpu/runtime.h"
    printf '#include <cuda.h>\nasm volatile("x"); // a vendor folder may\n' >"$scratch/backends/cuda/hopper.cu"
    cat >"$scratch/backends/gpu/sum.cuh" <<'CODE'
#include "gpu/runtime.h"
#include <cstdint>
// A warp has 32 lanes on one maker's GPUs: lane & 31 would be wrong, and so would asm.
/* unsigned mask = 0xffffffff;
   and >> 5 */
__device__ std::uint32_t lane_of(std::uint32_t thread) { return thread % warpSize; }
__device__ std::uint64_t mask = ~std::uint64_t{0};
constexpr std::uint64_t kWide = 0xffffffffffffffff;
constexpr int kThreads = 256, kUnroll = 32;
bool both(bool a, int b) { return a && b > 3 && 31 < b; }
int half(int x) { return x >> 50 | x % 320 | masked(x) | x & 310; }
CODE
}

# finds LINE WORDS: LINE planted in a kernel is complained of with WORDS, at its place.
finds() {
    good_tree
    local file=backends/gpu/sum.cuh said
    echo "$1" >>"$scratch/$file"
    if said=$("$check" "$scratch") || [[ "$said" != "$file:$(wc -l <"$scratch/$file"):"*"$2"* ]]; then
        fail "$1 should be complained of with '$2', gave '$said'"
    fi
}

good_tree
"$check" "$scratch" || fail "good kernels are refused"
rm -rf "$scratch/backends/gpu"
"$check" "$scratch" || fail "no folder is refused"
mkdir "$scratch/backends/gpu"
"$check" "$scratch" || fail "an empty folder is refused"

finds 'constexpr int kWarpSize = 32;' '32 beside a lane or warp'
finds 'if (warpSize == 32) return;' '32 beside a lane or warp'
finds 'for (int lane = 0; lane < 32U; ++lane) {}' '32 beside a lane or warp'
finds 'const int l = threadIdx.x & 31;' 'warp of 32'
finds 'const int l = threadIdx.x & 0x1f;' 'warp of 32'
finds 'const int w = threadIdx.x >> 5;' 'warp of 32'
finds 'const int l = threadIdx.x % 32;' 'warp of 32'
finds 'x += __shfl_down_sync(0xffffffff, x, offset);' 'a mask of 32 lanes'
finds 'x += __shfl_down_sync(0xFFFFFFFFu, x, offset);' 'a mask of 32 lanes'
finds 'unsigned mask = active();' 'lane mask of 32 bits'
finds 'void f(std::uint32_t lane_mask, int x);' 'lane mask of 32 bits'
finds 'unsigned votes = __ballot_sync(all, x > 0);' 'lanes kept in 32 bits'
finds 'const std::uint32_t on = __activemask();' 'lanes kept in 32 bits'
finds '  asm volatile("bar.sync 0;");' 'PTX'
finds '  __asm__("nop;");' 'PTX'
finds '#include <cuda_fp8.h>' "maker's header"
finds '#  include <cuda.h>' "maker's header"
finds '#include <hip/hip_runtime.h>' "maker's header"
finds '/* one */ int w = t >> 5; // two' 'warp of 32'
[ $failures = 0 ]
