// The bits that every back end's filler must give, as hashes of its first elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "work/fill.h"

namespace assay::work {

inline constexpr std::uint64_t kGoldenCount = 1000;

inline FillSpec golden_spec(Distribution distribution) {
    return {distribution, 0x0123456789ABCDEF, 7};
}

// FNV-1a, 64 bits.
inline std::uint64_t fnv1a(const void* data, std::size_t bytes) {
    std::uint64_t hash = 0xCBF29CE484222325;
    const auto* byte = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ byte[i]) * 0x100000001B3;
    return hash;
}

struct GoldenFill {
    Distribution distribution;
    Type type;
    std::uint64_t hash;
};

inline constexpr GoldenFill kGoldenFill[] = {
    {Distribution::normal, Type::fp64, 0x3DFA2F897623BCCD},
    {Distribution::normal, Type::fp32, 0x2BFE25D3A2D2D4E4},
    {Distribution::normal, Type::tf32, 0x2CA8CEAF89D235CE},
    {Distribution::normal, Type::fp16, 0xFB462738512D3691},
    {Distribution::normal, Type::bf16, 0x976AA064AF26854E},
    {Distribution::normal, Type::fp8_e4m3fn, 0xE2956FBD3149D62E},
    {Distribution::normal, Type::fp8_e4m3fnuz, 0xE66F2F1C30C20683},
    {Distribution::normal, Type::fp8_e5m2, 0xED5FA138113C1FEC},
    {Distribution::normal, Type::int8, 0x6305677F34A5F266},
    {Distribution::normal, Type::int32, 0x50F8C89CE17FA700},
    {Distribution::uniform, Type::fp64, 0x36F08F3179FE139A},
    {Distribution::uniform, Type::fp32, 0x75DDBAC29CEA74B4},
    {Distribution::uniform, Type::tf32, 0xDDCC427E462351CF},
    {Distribution::uniform, Type::fp16, 0x5A1294C311373B46},
    {Distribution::uniform, Type::bf16, 0x2D573E1DB364E380},
    {Distribution::uniform, Type::fp8_e4m3fn, 0x077886C3D3B0537C},
    {Distribution::uniform, Type::fp8_e4m3fnuz, 0x7E554082DB1A9FB9},
    {Distribution::uniform, Type::fp8_e5m2, 0xE314BF35E89EFF36},
    {Distribution::uniform, Type::int8, 0x724CDAE68A58D78E},
    {Distribution::uniform, Type::int32, 0xFC6032E254952B87},
    {Distribution::zeros, Type::fp64, 0x51E78E744621F425},
    {Distribution::zeros, Type::fp32, 0x94EB5AA73E186BA5},
    {Distribution::zeros, Type::tf32, 0x94EB5AA73E186BA5},
    {Distribution::zeros, Type::fp16, 0x79B4DA79586CDF65},
    {Distribution::zeros, Type::bf16, 0x79B4DA79586CDF65},
    {Distribution::zeros, Type::fp8_e4m3fn, 0x12633B178B17A745},
    {Distribution::zeros, Type::fp8_e4m3fnuz, 0x12633B178B17A745},
    {Distribution::zeros, Type::fp8_e5m2, 0x12633B178B17A745},
    {Distribution::zeros, Type::int8, 0x12633B178B17A745},
    {Distribution::zeros, Type::int32, 0x94EB5AA73E186BA5},
    {Distribution::ones, Type::fp64, 0x6E9AC6EAA13019A5},
    {Distribution::ones, Type::fp32, 0x7A788CED68BF5565},
    {Distribution::ones, Type::tf32, 0x7A788CED68BF5565},
    {Distribution::ones, Type::fp16, 0x0DBD02BA13DD45A5},
    {Distribution::ones, Type::bf16, 0xDD5F6626EA60B8C5},
    {Distribution::ones, Type::fp8_e4m3fn, 0xBA4603FEE4A606C5},
    {Distribution::ones, Type::fp8_e4m3fnuz, 0x986D644F35A66345},
    {Distribution::ones, Type::fp8_e5m2, 0xE98BE2EA8C4EAD25},
    {Distribution::ones, Type::int8, 0xD8E406B8F018C8AD},
    {Distribution::ones, Type::int32, 0xC2478372583DF265},
    {Distribution::ints, Type::fp64, 0x8E770AC4D6D53878},
    {Distribution::ints, Type::fp32, 0xCDCAE9767C6BC278},
    {Distribution::ints, Type::tf32, 0xCDCAE9767C6BC278},
    {Distribution::ints, Type::fp16, 0xD0D6B59E705CCFF1},
    {Distribution::ints, Type::bf16, 0x908753C1456DF5D0},
    {Distribution::ints, Type::fp8_e4m3fn, 0x86358DA4E3D5FC2D},
    {Distribution::ints, Type::fp8_e4m3fnuz, 0x0EE0FBB485507035},
    {Distribution::ints, Type::fp8_e5m2, 0xE274B21D312C37C9},
    {Distribution::ints, Type::int8, 0x5204213A4C3130FE},
    {Distribution::ints, Type::int32, 0x191CC755565DDA01},
};

}  // namespace assay::work
