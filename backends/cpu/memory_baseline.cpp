// Vectors of 16 bytes: SSE2, or what the compiler makes of them elsewhere.
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cstring>

#include "cpu/memory_loops.h"

namespace assay::cpu {
namespace {

struct Vector {
    static constexpr std::size_t kLanes = 4;
    using Lanes [[gnu::vector_size(16)]] = float;
    Lanes lanes;

    static Vector zero() { return all(0.0F); }
    static Vector all(float s) { return {Lanes{s, s, s, s}}; }
    static Vector load(const float* from) {
        return {*static_cast<const Lanes*>(static_cast<const void*>(from))};
    }
    void store(float* to) const { *static_cast<Lanes*>(static_cast<void*>(to)) = lanes; }
#if defined(__SSE2__)
    void stream(float* to) const { _mm_stream_ps(to, lanes); }
    static void fence() { _mm_sfence(); }
#else
    void stream(float* to) const { store(to); }
    static void fence() {}
#endif
    Vector operator+(Vector other) const { return {lanes + other.lanes}; }
    Vector operator*(Vector other) const { return {lanes * other.lanes}; }
    float sum() const { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }
};

}  // namespace

constinit const MemoryKernels kBaselineKernels = kernels_of<Vector>("baseline");

}  // namespace assay::cpu
