#include "probes/memory_check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/fill.h"
#include "probes/places.h"
#include "work/fill.h"

namespace assay::probes {

namespace {

float expected(work::MemoryOp op, float a, float b) {
    switch (op) {
        case work::MemoryOp::copy:
        case work::MemoryOp::read:
            return a;
        case work::MemoryOp::write:
            return work::kScalar;
        case work::MemoryOp::scale:
            return work::kScalar * a;
        case work::MemoryOp::add:
            return a + b;
        case work::MemoryOp::triad:
            return a + work::kScalar * b;
    }
    return 0;
}

work::FillSpec fill_of_a(std::uint64_t seed) {
    return {work::Distribution::normal, seed, kArrayA};
}

work::FillSpec fill_of_b(std::uint64_t seed) {
    return {work::Distribution::normal, seed, kArrayB};
}

// `first` is the smallest of seven integers: another check has others, so that a sum from before
// doesn't stand in for one that wasn't made.
record::Check check_read(device::Device& device, device::Stream& stream, ops::Fill& filler,
                         ops::PreparedMemory& kernel, const ops::MemoryOperands& arrays,
                         std::uint64_t elements, float first) {
    auto* a = const_cast<void*>(arrays.a);  // this check owns the contents
    filler.enqueue(stream, {work::Distribution::zeros, 0, kArrayA}, work::Type::fp32, elements, a);
    stream.synchronize();
    double sum = 0;
    float value = first;
    for (const std::uint64_t index : places(elements)) {
        device.copy_in(static_cast<float*>(a) + index, &value, sizeof value);
        sum += static_cast<double>(value);
        value =
            value < first + 6 ? value + 1 : first;  // small integers: any order of adding is exact
    }
    kernel.enqueue(stream, arrays);
    stream.synchronize();
    const double got = kernel.sum();
    return {"answer", got == sum, fmt::format("sum of the array is {}, expected {}", got, sum)};
}

}  // namespace

record::Check check_memory(device::Device& device, ops::PreparedMemory& kernel,
                           const ops::MemoryRequest& request, const ops::MemoryOperands& arrays,
                           std::uint64_t seed) {
    auto& filler = device.need<ops::Fill>();
    const auto stream = device.create_stream();
    const std::uint64_t elements = request.bytes_per_array / sizeof(float);
    const bool is_read = request.op == work::MemoryOp::read;

    record::Check check{"answer", true, ""};
    if (is_read) check = check_read(device, *stream, filler, kernel, arrays, elements, 1);

    const auto fill_a = fill_of_a(seed);
    const auto fill_b = fill_of_b(seed);
    if (arrays.a != nullptr) {
        filler.enqueue(*stream, fill_a, work::Type::fp32, elements, const_cast<void*>(arrays.a));
    }
    if (arrays.b != nullptr) {
        filler.enqueue(*stream, fill_b, work::Type::fp32, elements, const_cast<void*>(arrays.b));
    }
    if (is_read) {
        stream->synchronize();
        return check;
    }

    // The target starts as something no kernel writes.
    filler.enqueue(*stream, {work::Distribution::zeros, 0, 2}, work::Type::fp32, elements,
                   arrays.c);
    kernel.enqueue(*stream, arrays);
    stream->synchronize();
    return compare_memory(device, request, arrays, seed);
}

void poison_memory(device::Device& device, const ops::MemoryRequest& request,
                   const ops::MemoryOperands& arrays) {
    if (arrays.c == nullptr) return;
    constexpr float kPoison = 0;
    for (const std::uint64_t index : places(request.bytes_per_array / sizeof(float))) {
        device.copy_in(static_cast<float*>(arrays.c) + index, &kPoison, sizeof kPoison);
    }
}

record::Check compare_memory(device::Device& device, const ops::MemoryRequest& request,
                             const ops::MemoryOperands& arrays, std::uint64_t seed) {
    const std::uint64_t elements = request.bytes_per_array / sizeof(float);
    const auto fill_a = fill_of_a(seed);
    const auto fill_b = fill_of_b(seed);
    for (const std::uint64_t index : places(elements)) {
        float got = 0;
        device.copy_out(&got, static_cast<const float*>(arrays.c) + index, sizeof got);
        const auto a = static_cast<float>(work::fill_value(fill_a, work::Type::fp32, index));
        const auto b = static_cast<float>(work::fill_value(fill_b, work::Type::fp32, index));
        const float want = expected(request.op, a, b);
        // Triad may or may not be fused: one rounding more or less.
        const float tolerance = request.op == work::MemoryOp::triad
                                    ? 0x1p-23F * (std::abs(work::kScalar * b) + std::abs(want))
                                    : 0.0F;
        if (!(std::abs(got - want) <= tolerance)) {
            return {"answer", false,
                    fmt::format("element {} of {} is {:.9g}, expected {:.9g}", index,
                                work::name(request.op), got, want)};
        }
    }
    return {"answer", true,
            fmt::format("{} elements as computed on the host", std::min(kMostPlaces, elements))};
}

record::Check check_memory_again(device::Device& device, ops::PreparedMemory& kernel,
                                 const ops::MemoryRequest& request,
                                 const ops::MemoryOperands& arrays, std::uint64_t seed) {
    const auto stream = device.create_stream();
    if (request.op == work::MemoryOp::read) {
        return check_read(device, *stream, device.need<ops::Fill>(), kernel, arrays,
                          request.bytes_per_array / sizeof(float), 8);
    }
    poison_memory(device, request, arrays);
    kernel.enqueue(*stream, arrays);
    stream->synchronize();
    return compare_memory(device, request, arrays, seed);
}

}  // namespace assay::probes
