// What a thread of a kernel does beyond plain C++: matrix instructions, shared memory, copies,
// barriers. Kernels are written in these words alone, so that the same source also runs on a host,
// where a test gives the words' meaning (tests/cuda/warp_emulator.h).
//
// Shared memory is addressed by bytes, from shared_base() on.
#pragma once

#include <cstdint>

#include "cuda/attention/fragments.h"
#include "work/type.h"

#if defined(__CUDACC__)
#define ASSAY_LANE __device__ __forceinline__
#define ASSAY_UNROLL _Pragma("unroll")
#define ASSAY_UNROLL_TWICE _Pragma("unroll 2")
#define ASSAY_NO_UNROLL _Pragma("unroll 1")
#else
// g++ 12 takes an int constant that is an array's size for a conversion.
#pragma GCC diagnostic ignored "-Wsign-conversion"
#define ASSAY_LANE inline
#define ASSAY_UNROLL
#define ASSAY_UNROLL_TWICE
#define ASSAY_NO_UNROLL
#endif

namespace assay::cuda {

// Which thread of which block runs.
struct Thread {
    int number = 0, block = 0;
};

namespace lane {

#if defined(__CUDACC__)

ASSAY_LANE std::uint32_t shared_base() {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_memory));
}

// Of the whole block.
ASSAY_LANE void barrier() {
    __syncthreads();
}

// 16 bytes, both addresses aligned to them; zeros, and nothing is read, unless `exists`.
ASSAY_LANE void copy_async(std::uint32_t to, const void* from, bool exists) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(exists ? 16 : 0)
                 : "memory");
}
// The same of 4 bytes.
ASSAY_LANE void copy_word_async(std::uint32_t to, const void* from, bool exists) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from),
                 "r"(exists ? 4 : 0)
                 : "memory");
}
// The thread's copies since the last call are a group.
ASSAY_LANE void close_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until all groups of the thread but the `kLeft` latest have come.
template <int kLeft>
ASSAY_LANE void wait_groups() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

ASSAY_LANE void store_shared(std::uint32_t to, std::uint32_t value) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}
ASSAY_LANE void store_shared(std::uint32_t to, float value) {
    store_shared(to, __float_as_uint(value));
}
ASSAY_LANE void store_shared(std::uint32_t to, const std::uint32_t (&v)[4]) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v[0]), "r"(v[1]),
                 "r"(v[2]), "r"(v[3])
                 : "memory");
}
ASSAY_LANE float load_shared(std::uint32_t from) {
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
    return value;
}
ASSAY_LANE void load_shared(float (&to)[2], std::uint32_t from) {
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                 : "=f"(to[0]), "=f"(to[1])
                 : "r"(from)
                 : "memory");
}
ASSAY_LANE void load_matrices(std::uint32_t (&to)[4], std::uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from));
}
ASSAY_LANE void load_transposed(std::uint32_t (&to)[4], std::uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from));
}

// c += A B.
template <work::Type type>
ASSAY_LANE void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                         std::uint32_t b1) {
    if constexpr (type == work::Type::bf16) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}

ASSAY_LANE float shuffle_xor(float value, int mask) {
    return __shfl_xor_sync(0xFFFFFFFFU, value, mask);
}

// Two elements in a register, the first in the low half.
template <work::Type type>
ASSAY_LANE std::uint32_t pack(float low, float high) {
    std::uint32_t both;
    if constexpr (type == work::Type::bf16) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    } else {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    }
    return both;
}
template <work::Type type>
ASSAY_LANE float to_float(std::uint16_t bits) {
    float value;
    if constexpr (type == work::Type::bf16) {
        value = __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
    } else {
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    }
    return value;
}

// The value, which the compiler can't know: so it is computed where it is used, and not kept in
// registers for the whole kernel.
ASSAY_LANE std::uint32_t unknown(std::uint32_t value) {
    asm volatile("" : "+r"(value));
    return value;
}
ASSAY_LANE std::int64_t unknown(std::int64_t value) {
    asm volatile("" : "+l"(value));
    return value;
}

// To a few units in the last place; subnormals count as 0.
ASSAY_LANE float fast_exp2(float x) {
    float value;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}
ASSAY_LANE float fast_divide(float a, float b) {
    return __fdividef(a, b);
}

ASSAY_LANE void add_global(float* to, float value) {
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(value) : "memory");
}
// Aligned to both.
ASSAY_LANE void add_global(float* to, float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(first), "f"(second)
                 : "memory");
#else
    add_global(to, first);
    add_global(to + 1, second);
#endif
}

#else

std::uint32_t shared_base();
void barrier();
void copy_async(std::uint32_t to, const void* from, bool exists);
void copy_word_async(std::uint32_t to, const void* from, bool exists);
void close_group();
void wait_groups(int left);
template <int kLeft>
void wait_groups() {
    wait_groups(kLeft);
}
void store_shared(std::uint32_t to, std::uint32_t value);
void store_shared(std::uint32_t to, float value);
void store_shared(std::uint32_t to, const std::uint32_t (&values)[4]);
float load_shared(std::uint32_t from);
void load_shared(float (&to)[2], std::uint32_t from);
void load_matrices(std::uint32_t (&to)[4], std::uint32_t from);
void load_transposed(std::uint32_t (&to)[4], std::uint32_t from);
template <work::Type type>
void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1);
float shuffle_xor(float value, int mask);
inline std::uint32_t unknown(std::uint32_t value) {
    return value;
}
inline std::int64_t unknown(std::int64_t value) {
    return value;
}
template <work::Type type>
std::uint32_t pack(float low, float high);
template <work::Type type>
float to_float(std::uint16_t bits);
float fast_exp2(float x);
float fast_divide(float a, float b);
void add_global(float* to, float value);
void add_global(float* to, float first, float second);

#endif

}  // namespace lane
}  // namespace assay::cuda
