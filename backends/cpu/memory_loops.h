// Loops of memory_kernels.h over a vector type V of the including file's instruction set. V has
// kLanes, zero(), all(float), load, store, stream (past the caches), fence, +, * and sum().
// Unnamed, and free of the standard library's templates: a shared copy of a function might be one
// that was compiled for instructions which the processor lacks.
#pragma once

#include <cstddef>

#include "cpu/memory_kernels.h"

namespace assay::cpu {
namespace {

// Vectors handled in one turn of a loop: 4 cover the latency of a load, and whole cache lines are
// stored together for every vector of 16 bytes or more.
constexpr std::size_t kUnroll = 4;

template <class V, bool kPastCaches, class Vectors, class Scalars>
void map(float* c, std::size_t n, const Vectors& vectors, const Scalars& scalars) {
    constexpr std::size_t kStep = kUnroll * V::kLanes;
    std::size_t i = 0;
    for (; i + kStep <= n; i += kStep) {
        V values[kUnroll];
        for (std::size_t u = 0; u < kUnroll; ++u) values[u] = vectors(i + u * V::kLanes);
        for (std::size_t u = 0; u < kUnroll; ++u) {
            if constexpr (kPastCaches) {
                values[u].stream(c + i + u * V::kLanes);
            } else {
                values[u].store(c + i + u * V::kLanes);
            }
        }
    }
    for (; i < n; ++i) c[i] = scalars(i);
    if constexpr (kPastCaches) V::fence();
}

template <class V, class Vectors, class Scalars>
void map(float* c, std::size_t n, bool past_caches, const Vectors& vectors,
         const Scalars& scalars) {
    if (past_caches) {
        map<V, true>(c, n, vectors, scalars);
    } else {
        map<V, false>(c, n, vectors, scalars);
    }
}

// Sums in fp32 over blocks short enough to lose little, and from block to block in fp64.
template <class V>
double read(const float* a, std::size_t n) {
    constexpr std::size_t kSums = 8;
    constexpr std::size_t kStep = kSums * V::kLanes;
    constexpr std::size_t kBlock = 32 * kStep;
    double total = 0;
    std::size_t i = 0;
    while (i + kStep <= n) {
        const std::size_t end = n - i < kBlock ? n : i + kBlock;
        V sums[kSums];
        for (V& sum : sums) sum = V::zero();
        for (; i + kStep <= end; i += kStep) {
            for (std::size_t u = 0; u < kSums; ++u) {
                sums[u] = sums[u] + V::load(a + i + u * V::kLanes);
            }
        }
        for (std::size_t width = kSums / 2; width > 0; width /= 2) {
            for (std::size_t u = 0; u < width; ++u) sums[u] = sums[u] + sums[u + width];
        }
        total += static_cast<double>(sums[0].sum());
    }
    for (; i < n; ++i) total += static_cast<double>(a[i]);
    return total;
}

template <class V>
constexpr MemoryKernels kernels_of(std::string_view name) {
    return {
        .name = name,
        .copy =
            [](const float* a, float* c, std::size_t n, bool past_caches) {
                map<V>(
                    c, n, past_caches, [=](std::size_t i) { return V::load(a + i); },
                    [=](std::size_t i) { return a[i]; });
            },
        .write =
            [](float s, float* c, std::size_t n, bool past_caches) {
                map<V>(
                    c, n, past_caches, [v = V::all(s)](std::size_t) { return v; },
                    [=](std::size_t) { return s; });
            },
        .scale =
            [](float s, const float* a, float* c, std::size_t n, bool past_caches) {
                map<V>(
                    c, n, past_caches,
                    [a, v = V::all(s)](std::size_t i) { return v * V::load(a + i); },
                    [=](std::size_t i) { return s * a[i]; });
            },
        .add =
            [](const float* a, const float* b, float* c, std::size_t n, bool past_caches) {
                map<V>(
                    c, n, past_caches,
                    [=](std::size_t i) { return V::load(a + i) + V::load(b + i); },
                    [=](std::size_t i) { return a[i] + b[i]; });
            },
        .triad =
            [](float s, const float* a, const float* b, float* c, std::size_t n, bool past_caches) {
                map<V>(
                    c, n, past_caches,
                    [a, b, v = V::all(s)](std::size_t i) {
                        return V::load(a + i) + v * V::load(b + i);
                    },
                    [=](std::size_t i) { return a[i] + s * b[i]; });
            },
        .read = read<V>,
    };
}

}  // namespace
}  // namespace assay::cpu
