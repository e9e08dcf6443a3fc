// The plain loops that assay's copy and triad are compared with: OpenMP, non-temporal stores,
// -O3 -march=native, threads bound by the caller's OMP_PROC_BIND.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <immintrin.h>
#include <omp.h>

namespace {

using Array = std::unique_ptr<float[], decltype(&std::free)>;

#if defined(__AVX512F__)
constexpr std::int64_t kLanes = 16;
using Vector = __m512;
Vector load(const float* p) {
    return _mm512_load_ps(p);
}
void stream(float* p, Vector v) {
    _mm512_stream_ps(p, v);
}
Vector triad(Vector a, Vector b, Vector s) {
    return _mm512_fmadd_ps(b, s, a);
}
Vector broadcast(float x) {
    return _mm512_set1_ps(x);
}
#elif defined(__AVX2__)
constexpr std::int64_t kLanes = 8;
using Vector = __m256;
Vector load(const float* p) {
    return _mm256_load_ps(p);
}
void stream(float* p, Vector v) {
    _mm256_stream_ps(p, v);
}
Vector triad(Vector a, Vector b, Vector s) {
    return _mm256_fmadd_ps(b, s, a);
}
Vector broadcast(float x) {
    return _mm256_set1_ps(x);
}
#else
constexpr std::int64_t kLanes = 4;
using Vector = __m128;
Vector load(const float* p) {
    return _mm_load_ps(p);
}
void stream(float* p, Vector v) {
    _mm_stream_ps(p, v);
}
Vector triad(Vector a, Vector b, Vector s) {
    return _mm_add_ps(_mm_mul_ps(b, s), a);
}
Vector broadcast(float x) {
    return _mm_set1_ps(x);
}
#endif

Array allocate(std::int64_t elements) {
    const auto bytes = static_cast<std::size_t>(elements) * sizeof(float);
    Array array(static_cast<float*>(std::aligned_alloc(4096, bytes)), &std::free);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < elements; ++i) array[i] = static_cast<float>(i % 1000);
    return array;
}

void copy(const float* a, float* c, std::int64_t elements) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < elements; i += kLanes) stream(c + i, load(a + i));
}

void triad(const float* a, const float* b, float* c, std::int64_t elements) {
    const Vector s = broadcast(3.0F);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < elements; i += kLanes) {
        stream(c + i, triad(load(a + i), load(b + i), s));
    }
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

int main() {
    Array a(nullptr, &std::free), b(nullptr, &std::free), c(nullptr, &std::free);
    std::int64_t elements = 0;
    bool is_triad = false;
    for (std::string line; std::getline(std::cin, line);) {
        const auto request = nlohmann::json::parse(line);
        nlohmann::json value;
        if (request.at("do") == "prepare") {
            elements = request.at("bytes").get<std::int64_t>() / 4 / kLanes * kLanes;
            is_triad = request.at("op") == "triad";
            a = allocate(elements);
            if (is_triad) b = allocate(elements);
            c = allocate(elements);
            value["about"] = "plain OpenMP loops, GCC " __VERSION__ ", -O3 -march=native, " +
                             std::to_string(omp_get_max_threads()) + " threads";
        } else {
            std::vector<double> seconds;
            const auto calls = request.at("calls").get<int>();
            for (auto samples = request.at("samples").get<int>(); samples > 0; --samples) {
                const double start = now();
                for (int i = 0; i < calls; ++i) {
                    is_triad ? triad(a.get(), b.get(), c.get(), elements)
                             : copy(a.get(), c.get(), elements);
                }
                seconds.push_back((now() - start) / calls);
            }
            value["seconds"] = seconds;
        }
        std::cout << nlohmann::json{{"type", "done"}, {"value", value}} << std::endl;
    }
}
