#include "work/fill.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>

#include "work/element.h"
#include "work/named_rows.h"

namespace assay::work {
namespace {

struct DistributionRow {
    Distribution distribution;
    std::string_view name;
};

// In the order of the enumeration.
constexpr std::array<DistributionRow, 5> kDistributions{{
    {Distribution::normal, "normal"},
    {Distribution::uniform, "uniform"},
    {Distribution::zeros, "zeros"},
    {Distribution::ones, "ones"},
    {Distribution::ints, "ints"},
}};

// Calls f.operator()<value>() for the run-time `value`.
template <class F>
decltype(auto) with_distribution(Distribution distribution, F&& f) {
    switch (distribution) {
        case Distribution::normal:
            return f.template operator()<Distribution::normal>();
        case Distribution::uniform:
            return f.template operator()<Distribution::uniform>();
        case Distribution::zeros:
            return f.template operator()<Distribution::zeros>();
        case Distribution::ones:
            return f.template operator()<Distribution::ones>();
        case Distribution::ints:
            return f.template operator()<Distribution::ints>();
    }
    std::abort();
}

// Likewise for a type.
template <class F>
decltype(auto) with_type(Type type, F&& f) {
    switch (type) {
        case Type::fp64:
            return f.template operator()<Type::fp64>();
        case Type::fp32:
            return f.template operator()<Type::fp32>();
        case Type::tf32:
            return f.template operator()<Type::tf32>();
        case Type::fp16:
            return f.template operator()<Type::fp16>();
        case Type::bf16:
            return f.template operator()<Type::bf16>();
        case Type::fp8_e4m3fn:
            return f.template operator()<Type::fp8_e4m3fn>();
        case Type::fp8_e4m3fnuz:
            return f.template operator()<Type::fp8_e4m3fnuz>();
        case Type::fp8_e5m2:
            return f.template operator()<Type::fp8_e5m2>();
        case Type::int8:
            return f.template operator()<Type::int8>();
        case Type::int32:
            return f.template operator()<Type::int32>();
    }
    std::abort();
}

// Words of a block, small enough for the first-level cache, made before they are used: two short
// loops that the compiler vectorizes.
constexpr std::size_t kBlock = 1024;

template <Distribution distribution, Type type>
void fill_as(const FillSpec& spec, std::uint64_t first, std::uint64_t count, Stored<type>* out) {
    std::array<std::uint32_t, kBlock> words{};
    std::array<std::int32_t, kBlock> fixed{};
    std::uint64_t group = first / 4;
    std::size_t skip = first % 4;
    while (count > 0) {
        const std::size_t n = std::min<std::uint64_t>(count, kBlock - skip);
        const std::size_t groups = (skip + n + 3) / 4;
        if constexpr (distribution != Distribution::zeros && distribution != Distribution::ones) {
            for (std::size_t i = 0; i < groups; ++i) {
                const Words4 made = random_words(spec, group + i);
                for (std::size_t j = 0; j < 4; ++j) words[4 * i + j] = made.w[j];
            }
        }
        for (std::size_t i = 0; i < n; ++i) fixed[i] = fixed_value<distribution>(words[skip + i]);
        for (std::size_t i = 0; i < n; ++i) out[i] = stored_value<distribution, type>(fixed[i]);
        out += n;
        count -= n;
        group += kBlock / 4;
        skip = 0;
    }
}

}  // namespace

std::string_view name(Distribution distribution) {
    return kDistributions[static_cast<std::size_t>(distribution)].name;
}

Distribution parse_distribution(std::string_view word) {
    return row_named("distribution", word, kDistributions).distribution;
}

std::vector<Distribution> all_distributions() {
    std::vector<Distribution> all;
    for (const auto& row : kDistributions) all.push_back(row.distribution);
    return all;
}

double fill_value(const FillSpec& spec, Type type, std::uint64_t index) {
    return with_distribution(spec.distribution, [&]<Distribution distribution>() {
        return with_type(type, [&]<Type t>() {
            const auto stored = element<distribution, t>(spec, index);
            return load(t, &stored, 0);
        });
    });
}

void fill(const FillSpec& spec, Type type, std::uint64_t first, std::uint64_t count, void* out) {
    with_distribution(spec.distribution, [&]<Distribution distribution>() {
        with_type(type, [&]<Type t>() {
            fill_as<distribution, t>(spec, first, count, static_cast<Stored<t>*>(out));
        });
    });
}

double load(Type type, const void* data, std::uint64_t index) {
    return with_type(type, [&]<Type t>() -> double {
        const auto stored = static_cast<const Stored<t>*>(data)[index];
        if constexpr (sizeof(Stored<t>) <= 2 && t != Type::int8) {
            return static_cast<double>(bits_as<float>(decode<format_of<t>()>(stored)));
        } else {
            return static_cast<double>(stored);
        }
    });
}

void store(Type type, double value, void* out) {
    with_type(type, [&]<Type t>() {
        auto& stored = *static_cast<Stored<t>*>(out);
        if constexpr (t == Type::fp64) {
            stored = value;
        } else if constexpr (t == Type::int8 || t == Type::int32) {
            using Limits = std::numeric_limits<Stored<t>>;
            const double whole = std::isnan(value) ? 0 : std::nearbyint(value);
            stored = static_cast<Stored<t>>(
                std::clamp(whole, double{Limits::min()}, double{Limits::max()}));
        } else {
            stored = narrowed<t>(static_cast<float>(value));
        }
    });
}

}  // namespace assay::work
