#include <algorithm>

#include "gpu/fill.h"
#include "work/element.h"

namespace assay::gpu {
namespace {

using work::Distribution;
using work::Type;

constexpr int kThreads = 256;
constexpr std::uint64_t kMostBlocks = 1 << 16;

template <class Stored>
struct alignas(4 * sizeof(Stored)) Four {
    Stored value[4];
};

template <Distribution distribution, Type type>
__device__ Four<work::Stored<type>> four(const work::Words4& words) {
    Four<work::Stored<type>> out;
    for (int i = 0; i < 4; ++i) {
        out.value[i] =
            work::stored_value<distribution, type>(work::fixed_value<distribution>(words.w[i]));
    }
    return out;
}

// One kernel a type: the distribution is the same for all threads, so choosing it costs nothing.
template <Type type>
__device__ Four<work::Stored<type>> four(Distribution distribution, const work::Words4& words) {
    switch (distribution) {
        case Distribution::normal:
            return four<Distribution::normal, type>(words);
        case Distribution::uniform:
            return four<Distribution::uniform, type>(words);
        case Distribution::ones:
            return four<Distribution::ones, type>(words);
        case Distribution::ints:
            return four<Distribution::ints, type>(words);
        case Distribution::zeros:
            break;
    }
    return four<Distribution::zeros, type>(words);
}

template <Type type>
__global__ void __launch_bounds__(kThreads)
    fill_kernel(work::FillSpec spec, std::uint64_t count, work::Stored<type>* out) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * kThreads;
    for (std::uint64_t group = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
         4 * group < count; group += stride) {
        const auto values = four<type>(spec.distribution, work::random_words(spec, group));
        if (4 * group + 4 <= count) {
            reinterpret_cast<Four<work::Stored<type>>*>(out)[group] = values;
        } else {
            for (std::uint64_t i = 4 * group; i < count; ++i) out[i] = values.value[i % 4];
        }
    }
}

template <Type type>
void launch(const work::FillSpec& spec, std::uint64_t count, void* out, Stream stream) {
    const std::uint64_t blocks = (count + 4 * kThreads - 1) / (4 * kThreads);
    fill_kernel<type>
        <<<static_cast<unsigned>(std::min(blocks, kMostBlocks)), kThreads, 0, stream>>>(
            spec, count, static_cast<work::Stored<type>*>(out));
}

}  // namespace

void launch_fill(const work::FillSpec& spec, Type type, std::uint64_t count, void* out,
                 Stream stream) {
    if (count == 0) return;
    switch (type) {
        case Type::fp64:
            return launch<Type::fp64>(spec, count, out, stream);
        case Type::fp32:
            return launch<Type::fp32>(spec, count, out, stream);
        case Type::tf32:
            return launch<Type::tf32>(spec, count, out, stream);
        case Type::fp16:
            return launch<Type::fp16>(spec, count, out, stream);
        case Type::bf16:
            return launch<Type::bf16>(spec, count, out, stream);
        case Type::fp8_e4m3fn:
            return launch<Type::fp8_e4m3fn>(spec, count, out, stream);
        case Type::fp8_e4m3fnuz:
            return launch<Type::fp8_e4m3fnuz>(spec, count, out, stream);
        case Type::fp8_e5m2:
            return launch<Type::fp8_e5m2>(spec, count, out, stream);
        case Type::int8:
            return launch<Type::int8>(spec, count, out, stream);
        case Type::int32:
            return launch<Type::int32>(spec, count, out, stream);
    }
}

}  // namespace assay::gpu
