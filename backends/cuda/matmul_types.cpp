#include "cuda/matmul_types.h"

#include <cstring>

#include <cuda_fp16.h>
#include <fmt/format.h>

#include "base/error.h"

namespace assay::cuda {

namespace {

using work::Type;

using work::is_fp8;

void require_types(const work::Matmul& p) {
    const auto b = work::type_b(p);
    if (p.operand == Type::fp8_e4m3fnuz || b == Type::fp8_e4m3fnuz) {
        throw Unsupported("NVIDIA has no fp8_e4m3fnuz: that is AMD's MI300",
                          "give fp8_e4m3fn, another format with another range");
    }
    if (is_fp8(p.operand) != is_fp8(b) || (!is_fp8(p.operand) && p.operand != b)) {
        throw Unsupported(
            fmt::format("no product of {} with {}", work::name(p.operand), work::name(b)),
            "operands have one type, or are e4m3fn x e4m3fn, e4m3fn x e5m2, e5m2 x "
            "e4m3fn of fp8");
    }
    if (p.operand == Type::fp8_e5m2 && b == Type::fp8_e5m2) {
        throw Unsupported("cuBLASLt has no product of fp8_e5m2 with fp8_e5m2",
                          "give one of them --dtype fp8_e4m3fn");
    }
    if (p.operand == Type::int32) {
        throw Unsupported("no product of int32 operands", "give int8, accumulated in int32");
    }
    const bool known = p.accumulate == work::default_accumulate(p.operand) ||
                       (p.operand == Type::fp16 && p.accumulate == Type::fp16);
    if (!known) {
        throw Unsupported(fmt::format("no product of {} accumulated in {}", work::name(p.operand),
                                      work::name(p.accumulate)),
                          "leave out --accumulate; fp16 can also accumulate in fp16");
    }
}

// cuBLASLt wants K, and N, which is the leading dimension of C, in multiples of 16 bytes (cuBLAS
// documentation, "cublasLtMatmul", fp8 kernels).
void require_fp8_shape(const work::Matmul& p, int capability) {
    constexpr std::int64_t kMultiple = 16;
    constexpr int kFirstWithEveryLayout = 100;
    if (p.layout != work::Layout::nt && capability < kFirstWithEveryLayout) {
        throw Unsupported(
            fmt::format("fp8 products exist for layout nt only, not {}", work::name(p.layout)),
            "give --layout nt: both operands contiguous along K");
    }
    for (const auto& [dimension, value] : {std::pair{"K", p.k}, std::pair{"N", p.n}}) {
        if (value % kMultiple == 0) continue;
        throw Unsupported(fmt::format("{} of {} is {}, and fp8 needs a multiple of {}", dimension,
                                      describe(p), value, kMultiple),
                          fmt::format("give {} = {}", dimension,
                                      (value + kMultiple - 1) / kMultiple * kMultiple));
    }
}

template <class Value>
void put(unsigned char* at, Value value) {
    std::memcpy(at, &value, sizeof value);
}

}  // namespace

std::string describe(const work::Matmul& p) {
    std::string text = fmt::format("{}x{}x{} {}", p.m, p.n, p.k, work::name(p.operand));
    if (work::type_b(p) != p.operand) text += fmt::format(" x {}", work::name(work::type_b(p)));
    text += fmt::format(" to {} {}", work::name(p.output), work::name(p.layout));
    if (p.epilogue != work::Epilogue::none) text += fmt::format(" {}", work::name(p.epilogue));
    if (p.batch > 1) text += fmt::format(" batch {}", p.batch);
    return text;
}

cudaDataType_t data_type(Type type) {
    switch (type) {
        case Type::fp64:
            return CUDA_R_64F;
        case Type::fp32:
        case Type::tf32:
            return CUDA_R_32F;
        case Type::fp16:
            return CUDA_R_16F;
        case Type::bf16:
            return CUDA_R_16BF;
        case Type::fp8_e4m3fn:
            return CUDA_R_8F_E4M3;
        case Type::fp8_e5m2:
            return CUDA_R_8F_E5M2;
        case Type::int8:
            return CUDA_R_8I;
        case Type::int32:
            return CUDA_R_32I;
        case Type::fp8_e4m3fnuz:
            break;
    }
    throw Unsupported("CUDA has no type " + std::string(work::name(type)));
}

cublasComputeType_t compute_type(const work::Matmul& p) {
    if (p.operand == Type::tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
    switch (p.accumulate) {
        case Type::fp64:
            return CUBLAS_COMPUTE_64F;
        case Type::fp16:
            return CUBLAS_COMPUTE_16F;
        case Type::int32:
            return CUBLAS_COMPUTE_32I;
        default:
            return CUBLAS_COMPUTE_32F;
    }
}

cudaDataType_t scale_type(const work::Matmul& p) {
    return data_type(p.accumulate);
}

void require_supported(const work::Matmul& p, const std::string& device, int capability) {
    require_types(p);
    if (is_fp8(p.operand)) {
        constexpr int kFirstWithFp8 = 89;
        if (capability < kFirstWithFp8) {
            throw Unsupported(fmt::format("{} (sm_{}) has no fp8", device, capability),
                              "fp8 came with sm_89; give bf16 or fp16");
        }
        require_fp8_shape(p, capability);
    }
    const bool scaled = p.scale_a != 1 || p.scale_b != 1;
    if (scaled && work::is_integer(p.operand)) {
        throw Unsupported("no scaled product of int8 to int32", "leave out --scales");
    }
}

Factors::Factors(const work::Matmul& p) {
    const float scale = is_fp8(p.operand) ? 1.0F : p.scale_a * p.scale_b;
    switch (p.accumulate) {
        case Type::fp64:
            put(alpha_, static_cast<double>(p.scale_a) * static_cast<double>(p.scale_b));
            break;
        case Type::fp16:
            put(alpha_, __float2half(scale));
            break;
        case Type::int32:
            put(alpha_, std::int32_t{1});
            break;
        default:
            put(alpha_, scale);
    }
}

}  // namespace assay::cuda
