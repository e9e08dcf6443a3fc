// The loops over arrays, once for each instruction set they are compiled for.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::cpu {

// `a`, `b` and `c` are aligned to 64 bytes, `n` counts elements. With `past_caches` stores are
// non-temporal and complete when the call returns. Products and sums are rounded one by one.
struct MemoryKernels {
    std::string_view name;  // "baseline", "avx2", "avx512"
    void (*copy)(const float* a, float* c, std::size_t n, bool past_caches);
    void (*write)(float s, float* c, std::size_t n, bool past_caches);
    void (*scale)(float s, const float* a, float* c, std::size_t n, bool past_caches);
    void (*add)(const float* a, const float* b, float* c, std::size_t n, bool past_caches);
    void (*triad)(float s, const float* a, const float* b, float* c, std::size_t n,
                  bool past_caches);
    double (*read)(const float* a, std::size_t n);  // the sum
};

extern const MemoryKernels kBaselineKernels;
extern const MemoryKernels kAvx2Kernels;    // x86 only
extern const MemoryKernels kAvx512Kernels;  // x86 only

// The best of those this processor and system can run.
const MemoryKernels& best_memory_kernels();

// The best, or the one that ASSAY_CPU_ISA names. Throws UsageError for an unknown name and
// Unsupported for one that the processor can't run.
const MemoryKernels& memory_kernels();

}  // namespace assay::cpu
