#include <immintrin.h>

#include "cpu/memory_loops.h"

namespace assay::cpu {
namespace {

struct Vector {
    static constexpr std::size_t kLanes = 16;
    __m512 lanes;

    static Vector zero() { return {_mm512_setzero_ps()}; }
    static Vector all(float s) { return {_mm512_set1_ps(s)}; }
    static Vector load(const float* from) { return {_mm512_load_ps(from)}; }
    void store(float* to) const { _mm512_store_ps(to, lanes); }
    void stream(float* to) const { _mm512_stream_ps(to, lanes); }
    static void fence() { _mm_sfence(); }
    Vector operator+(Vector other) const { return {_mm512_add_ps(lanes, other.lanes)}; }
    Vector operator*(Vector other) const { return {_mm512_mul_ps(lanes, other.lanes)}; }
    float sum() const { return _mm512_reduce_add_ps(lanes); }
};

}  // namespace

constinit const MemoryKernels kAvx512Kernels = kernels_of<Vector>("avx512");

}  // namespace assay::cpu
