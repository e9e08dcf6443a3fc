#include <immintrin.h>

#include "cpu/attention_loops.h"

namespace assay::cpu {
namespace {

struct Vector {
    static constexpr int kLanes = 16;
    static constexpr int kRows = 8;  // 16 sums cover the latency; one row's columns stay in L1
    using Mask = __mmask16;
    __m512 lanes;

    static Vector zero() { return {_mm512_setzero_ps()}; }
    static Vector all(float s) { return {_mm512_set1_ps(s)}; }
    static Vector load(const float* from) { return {_mm512_load_ps(from)}; }
    void store(float* to) const { _mm512_store_ps(to, lanes); }

    static Vector load_fp32(const float* from) { return {_mm512_loadu_ps(from)}; }
    void store_fp32(float* to) const { _mm512_storeu_ps(to, lanes); }
    static Vector load_bf16(const std::uint16_t* from) {
        const __m512i wide = _mm512_cvtepu16_epi32(
            _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(from))));
        return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
    }
    void store_bf16(std::uint16_t* to) const {
        const __m512i bits = _mm512_castps_si512(lanes);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
        __m512i high = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
        high = _mm512_mask_mov_epi32(high, _mm512_cmp_ps_mask(lanes, lanes, _CMP_UNORD_Q),
                                     _mm512_set1_epi32(0x7FC0));
        store_halves(to, _mm512_cvtepi32_epi16(high));
    }
    static Vector load_fp16(const std::uint16_t* from) {
        return {_mm512_cvtph_ps(
            _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(from))))};
    }
    void store_fp16(std::uint16_t* to) const {
        store_halves(to, _mm512_cvtps_ph(lanes, _MM_FROUND_TO_NEAREST_INT));
    }

    Vector operator+(Vector other) const { return {_mm512_add_ps(lanes, other.lanes)}; }
    Vector operator-(Vector other) const { return {_mm512_sub_ps(lanes, other.lanes)}; }
    Vector operator*(Vector other) const { return {_mm512_mul_ps(lanes, other.lanes)}; }
    Vector operator/(Vector other) const { return {_mm512_div_ps(lanes, other.lanes)}; }
    static Vector fma(Vector a, Vector b, Vector c) {
        return {_mm512_fmadd_ps(a.lanes, b.lanes, c.lanes)};
    }
    static Vector min(Vector a, Vector b) { return {_mm512_min_ps(a.lanes, b.lanes)}; }
    static Vector max(Vector a, Vector b) { return {_mm512_max_ps(a.lanes, b.lanes)}; }
    Vector round() const {
        return {_mm512_roundscale_ps(lanes, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
    }
    // What times_power() takes: here anything.
    Vector bounded() const { return *this; }
    Vector times_power(Vector n) const { return {_mm512_scalef_ps(lanes, n.lanes)}; }
    float sum() const { return _mm512_reduce_add_ps(lanes); }
    bool any_nan() const { return _mm512_cmp_ps_mask(lanes, lanes, _CMP_UNORD_Q) != 0; }

    static Mask less(Vector a, Vector b) {
        return _mm512_cmp_ps_mask(a.lanes, b.lanes, _CMP_LT_OQ);
    }
    static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
    static Mask either(Mask a, Mask b) { return static_cast<Mask>(a | b); }
    static Vector select(Mask mask, Vector a, Vector b) {
        return {_mm512_mask_blend_ps(mask, b.lanes, a.lanes)};
    }

  private:
    static void store_halves(std::uint16_t* to, __m256i halves) {
        _mm256_storeu_si256(static_cast<__m256i*>(static_cast<void*>(to)), halves);
    }
};

}  // namespace

constinit const AttentionKernels kAvx512Attention = attention_kernels_of<Vector>("avx512");

}  // namespace assay::cpu
