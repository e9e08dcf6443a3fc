// AVX2 with FMA and F16C, which every processor of its kind has.
#include <immintrin.h>

#include "cpu/attention_loops.h"

namespace assay::cpu {
namespace {

struct Vector {
    static constexpr int kLanes = 8;
    static constexpr int kRows = 6;  // 12 sums, two vectors of columns and an element of a row
    using Mask = __m256;
    __m256 lanes;

    static Vector zero() { return {_mm256_setzero_ps()}; }
    static Vector all(float s) { return {_mm256_set1_ps(s)}; }
    static Vector load(const float* from) { return {_mm256_load_ps(from)}; }
    void store(float* to) const { _mm256_store_ps(to, lanes); }

    static Vector load_fp32(const float* from) { return {_mm256_loadu_ps(from)}; }
    void store_fp32(float* to) const { _mm256_storeu_ps(to, lanes); }
    static Vector load_bf16(const std::uint16_t* from) {
        const __m256i wide = _mm256_cvtepu16_epi32(load_halves(from));
        return {_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16))};
    }
    void store_bf16(std::uint16_t* to) const {
        const __m256i bits = _mm256_castps_si256(lanes);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
        __m256i high = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
        const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(lanes, lanes, _CMP_UNORD_Q));
        high = _mm256_blendv_epi8(high, _mm256_set1_epi32(0x7FC0), nan);
        store_halves(
            to, _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)));
    }
    static Vector load_fp16(const std::uint16_t* from) {
        return {_mm256_cvtph_ps(load_halves(from))};
    }
    void store_fp16(std::uint16_t* to) const {
        store_halves(to, _mm256_cvtps_ph(lanes, _MM_FROUND_TO_NEAREST_INT));
    }

    Vector operator+(Vector other) const { return {_mm256_add_ps(lanes, other.lanes)}; }
    Vector operator-(Vector other) const { return {_mm256_sub_ps(lanes, other.lanes)}; }
    Vector operator*(Vector other) const { return {_mm256_mul_ps(lanes, other.lanes)}; }
    Vector operator/(Vector other) const { return {_mm256_div_ps(lanes, other.lanes)}; }
    static Vector fma(Vector a, Vector b, Vector c) {
        return {_mm256_fmadd_ps(a.lanes, b.lanes, c.lanes)};
    }
    static Vector min(Vector a, Vector b) { return {_mm256_min_ps(a.lanes, b.lanes)}; }
    static Vector max(Vector a, Vector b) { return {_mm256_max_ps(a.lanes, b.lanes)}; }
    Vector round() const {
        return {_mm256_round_ps(lanes, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
    }
    // For n of -126 .. 128, which bounded() gives.
    Vector bounded() const { return min(all(128.0F), max(all(-126.0F), *this)); }
    Vector times_power(Vector n) const {
        const __m256i exponent =
            _mm256_add_epi32(_mm256_cvtps_epi32(n.lanes), _mm256_set1_epi32(127));
        return {_mm256_mul_ps(lanes, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)))};
    }
    float sum() const {
        __m128 v = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
        v = _mm_add_ps(v, _mm_movehl_ps(v, v));
        return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
    }
    bool any_nan() const {
        return _mm256_movemask_ps(_mm256_cmp_ps(lanes, lanes, _CMP_UNORD_Q)) != 0;
    }

    static Mask less(Vector a, Vector b) { return _mm256_cmp_ps(a.lanes, b.lanes, _CMP_LT_OQ); }
    static Mask both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
    static Mask either(Mask a, Mask b) { return _mm256_or_ps(a, b); }
    static Vector select(Mask mask, Vector a, Vector b) {
        return {_mm256_blendv_ps(b.lanes, a.lanes, mask)};
    }

  private:
    static __m128i load_halves(const std::uint16_t* from) {
        return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(from)));
    }
    static void store_halves(std::uint16_t* to, __m128i halves) {
        _mm_storeu_si128(static_cast<__m128i*>(static_cast<void*>(to)), halves);
    }
};

}  // namespace

constinit const AttentionKernels kAvx2Attention = attention_kernels_of<Vector>("avx2");

}  // namespace assay::cpu
