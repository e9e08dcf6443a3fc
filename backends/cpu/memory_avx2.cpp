#include <immintrin.h>

#include "cpu/memory_loops.h"

namespace assay::cpu {
namespace {

struct Vector {
    static constexpr std::size_t kLanes = 8;
    __m256 lanes;

    static Vector zero() { return {_mm256_setzero_ps()}; }
    static Vector all(float s) { return {_mm256_set1_ps(s)}; }
    static Vector load(const float* from) { return {_mm256_load_ps(from)}; }
    void store(float* to) const { _mm256_store_ps(to, lanes); }
    void stream(float* to) const { _mm256_stream_ps(to, lanes); }
    static void fence() { _mm_sfence(); }
    Vector operator+(Vector other) const { return {_mm256_add_ps(lanes, other.lanes)}; }
    Vector operator*(Vector other) const { return {_mm256_mul_ps(lanes, other.lanes)}; }
    float sum() const {
        __m128 v = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
        v = _mm_add_ps(v, _mm_movehl_ps(v, v));
        return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
    }
};

}  // namespace

constinit const MemoryKernels kAvx2Kernels = kernels_of<Vector>("avx2");

}  // namespace assay::cpu
