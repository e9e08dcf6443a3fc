// Vectors of 16 bytes, as the compiler makes them of whatever the machine has.
#include "cpu/attention_loops.h"
#include "work/number_format.h"

namespace assay::cpu {
namespace {

struct Vector {
    static constexpr int kLanes = 4;
    static constexpr int kRows = 4;  // 8 sums leave registers for products, which aren't fused
    using Lanes [[gnu::vector_size(16)]] = float;
    using Mask [[gnu::vector_size(16)]] = std::int32_t;
    Lanes lanes;

    static Vector zero() { return all(0.0F); }
    static Vector all(float s) { return {Lanes{s, s, s, s}}; }
    static Vector load(const float* from) {
        return {*static_cast<const Lanes*>(static_cast<const void*>(from))};
    }
    void store(float* to) const { *static_cast<Lanes*>(static_cast<void*>(to)) = lanes; }

    static Vector load_fp32(const float* from) {
        Vector v;
        __builtin_memcpy(&v.lanes, from, sizeof(v.lanes));
        return v;
    }
    void store_fp32(float* to) const { __builtin_memcpy(to, &lanes, sizeof(lanes)); }
    static Vector load_bf16(const std::uint16_t* from) { return decoded<work::kBf16>(from); }
    void store_bf16(std::uint16_t* to) const { encode_to<work::kBf16>(to); }
    static Vector load_fp16(const std::uint16_t* from) { return decoded<work::kFp16>(from); }
    void store_fp16(std::uint16_t* to) const { encode_to<work::kFp16>(to); }

    Vector operator+(Vector other) const { return {lanes + other.lanes}; }
    Vector operator-(Vector other) const { return {lanes - other.lanes}; }
    Vector operator*(Vector other) const { return {lanes * other.lanes}; }
    Vector operator/(Vector other) const { return {lanes / other.lanes}; }
    static Vector fma(Vector a, Vector b, Vector c) { return {a.lanes * b.lanes + c.lanes}; }
    static Vector min(Vector a, Vector b) { return select(a.lanes < b.lanes, a, b); }
    static Vector max(Vector a, Vector b) { return select(a.lanes > b.lanes, a, b); }
    // For |x| < 2^22: there the sum's last place is 1.
    Vector round() const {
        const Vector large = all(12582912.0F);  // 1.5 x 2^23
        return (*this + large) - large;
    }
    // For n of -126 .. 128, which bounded() gives.
    Vector bounded() const { return min(all(128.0F), max(all(-126.0F), *this)); }
    Vector times_power(Vector n) const {
        const Mask exponent = __builtin_convertvector(n.lanes, Mask) + 127;
        return {lanes * bits_to_lanes(exponent << 23)};
    }
    float sum() const { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }
    bool any_nan() const {
        const Mask equal = lanes == lanes;
        return (equal[0] & equal[1] & equal[2] & equal[3]) == 0;
    }

    static Mask less(Vector a, Vector b) { return a.lanes < b.lanes; }
    static Mask both(Mask a, Mask b) { return a & b; }
    static Mask either(Mask a, Mask b) { return a | b; }
    static Vector select(Mask mask, Vector a, Vector b) {
        return {bits_to_lanes((mask & lanes_to_bits(a.lanes)) | (~mask & lanes_to_bits(b.lanes)))};
    }

  private:
    static Lanes bits_to_lanes(Mask bits) { return __builtin_bit_cast(Lanes, bits); }
    static Mask lanes_to_bits(Lanes lanes) { return __builtin_bit_cast(Mask, lanes); }

    template <work::NumberFormat format>
    static Vector decoded(const std::uint16_t* from) {
        Vector v = zero();
        for (int i = 0; i < kLanes; ++i) {
            v.lanes[i] = work::bits_as<float>(work::decode<format>(from[i]));
        }
        return v;
    }
    template <work::NumberFormat format>
    void encode_to(std::uint16_t* to) const {
        for (int i = 0; i < kLanes; ++i) {
            const float lane = lanes[i];
            to[i] = static_cast<std::uint16_t>(
                work::encode<format>(work::bits_as<std::uint32_t>(lane)));
        }
    }
};

}  // namespace

constinit const AttentionKernels kBaselineAttention = attention_kernels_of<Vector>("baseline");

}  // namespace assay::cpu
