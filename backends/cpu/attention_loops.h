// Loops of attention_kernels.h over a vector type V of the including file's instruction set. V has
// kLanes, kRows (rows of a product whose sums over two vectors of columns fit the registers),
// arithmetic, comparisons to V::Mask, and loads and stores of fp32 (aligned, and not), bf16 and
// fp16. Of min and max, the second operand is given where either is NaN.
// Unnamed, and free of the standard library's templates: a shared copy of a function might be one
// that was compiled for instructions which the processor lacks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/attention_kernels.h"

namespace assay::cpu {
namespace {

constexpr int kPanelVectors = 2;

template <class V>
constexpr int kPanel = kPanelVectors * V::kLanes;

template <class T, int kCount>
using Array = T[static_cast<std::size_t>(kCount)];

// --- Operands in and results out ---

struct Fp32 {
    using Element = float;
    template <class V>
    static V load(const Element* from) {
        return V::load_fp32(from);
    }
    template <class V>
    static void store(V v, Element* to) {
        v.store_fp32(to);
    }
};
struct Bf16 {
    using Element = std::uint16_t;
    template <class V>
    static V load(const Element* from) {
        return V::load_bf16(from);
    }
    template <class V>
    static void store(V v, Element* to) {
        v.store_bf16(to);
    }
};
struct Fp16 {
    using Element = std::uint16_t;
    template <class V>
    static V load(const Element* from) {
        return V::load_fp16(from);
    }
    template <class V>
    static void store(V v, Element* to) {
        v.store_fp16(to);
    }
};

template <class Call>
auto of_type(work::Type type, const Call& call) {
    if (type == work::Type::bf16) return call(Bf16());
    if (type == work::Type::fp16) return call(Fp16());
    return call(Fp32());
}

// n elements, at most a vector's, and zeros behind them.
template <class V, class Format>
V load(Format, const typename Format::Element* from, int n) {
    if (n >= V::kLanes) return Format::template load<V>(from);
    typename Format::Element part[V::kLanes] = {};
    __builtin_memcpy(part, from, static_cast<std::size_t>(n) * sizeof(*from));
    return Format::template load<V>(part);
}

template <class V, class Format>
void store(Format, V v, typename Format::Element* to, int n) {
    if (n >= V::kLanes) return Format::template store<V>(v, to);
    typename Format::Element part[V::kLanes];
    Format::template store<V>(v, part);
    __builtin_memcpy(to, part, static_cast<std::size_t>(n) * sizeof(*to));
}

// Rows of one head may lie a page or more apart, where no hardware looks for the next one.
constexpr int kRowsAhead = 8;

// Calls put(row, column, vector) for every vector of the rows.
template <class V, class Put>
bool each_vector(const Rows& from, const Put& put) {
    return of_type(from.type, [&](auto format) {
        const auto* row = static_cast<const typename decltype(format)::Element*>(from.data);
        V taint = V::zero();  // turns into NaN where infinity or NaN is multiplied with 0
        for (int r = 0; r < from.rows; ++r, row += from.stride) {
            const bool ahead = r + kRowsAhead < from.rows;
            for (int c = 0; c < from.width; c += V::kLanes) {
                if (ahead) __builtin_prefetch(row + kRowsAhead * from.stride + c);
                const V v = load<V>(format, row + c, from.width - c);
                taint = V::fma(v, V::zero(), taint);
                put(r, c, v);
            }
        }
        return !taint.any_nan();
    });
}

template <class V>
bool copy_rows(const Rows& from, float* to, std::int64_t stride) {
    return each_vector<V>(from, [=](int r, int c, V v) { v.store(to + r * stride + c); });
}

template <class V>
bool copy_panels(const Rows& from, float* to, std::int64_t panel_stride) {
    return each_vector<V>(from, [=](int r, int c, V v) {
        v.store(to + c / kPanel<V> * panel_stride + r * kPanel<V> + c % kPanel<V>);
    });
}

template <class V>
bool copy_turned(const Rows& from, float factor, int first, int wide, float* to,
                 std::int64_t panel_stride) {
    const V factors = V::all(factor);
    return each_vector<V>(from, [=](int r, int c, V v) {
        alignas(64) float lanes[V::kLanes];
        (v * factors).store(lanes);
        const int row = first + r;
        float* at = to + row / wide * panel_stride + std::int64_t{c} * wide + row % wide;
        const int n = from.width - c < V::kLanes ? from.width - c : V::kLanes;
        for (int i = 0; i < n; ++i) at[std::int64_t{i} * wide] = lanes[i];
    });
}

template <class V>
void narrow_row(const float* from, float factor, int n, work::Type type, void* to) {
    const V factors = V::all(factor);
    of_type(type, [=](auto format) {
        auto* elements = static_cast<typename decltype(format)::Element*>(to);
        for (int c = 0; c < n; c += V::kLanes) {
            store<V>(format, V::load(from + c) * factors, elements + c, n - c);
        }
    });
}

template <class V>
float dot_rows(const void* a, const void* b, work::Type type, int n) {
    return of_type(type, [=](auto format) {
        using Element = typename decltype(format)::Element;
        V sum = V::zero();
        for (int c = 0; c < n; c += V::kLanes) {
            sum = V::fma(load<V>(format, static_cast<const Element*>(a) + c, n - c),
                         load<V>(format, static_cast<const Element*>(b) + c, n - c), sum);
        }
        return sum.sum();
    });
}

// --- Products ---

template <class V, int kRows, int kVectors, bool kTurned>
void product_block(const Product& p, const float* a, const float* b, float* c,
                   const float* factor) {
    Array<Array<V, kVectors>, kRows> sums;
    const Into into = p.into;
    const std::int64_t stride = p.a_stride, c_stride = p.c_stride;
    if (into == Into::extend) {
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
            for (int v = 0; v < kVectors; ++v) {
                sums[i][v] = V::load(c + i * c_stride + v * V::kLanes);
            }
        }
    } else {
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
            for (int v = 0; v < kVectors; ++v) sums[i][v] = V::zero();
        }
    }
    for (int l = 0; l < p.k; ++l) {
        Array<V, kVectors> columns;
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) columns[v] = V::load(b + v * V::kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
            const V x = V::all(kTurned ? a[i] : a[i * stride]);
#pragma GCC unroll 8
            for (int v = 0; v < kVectors; ++v) sums[i][v] = V::fma(x, columns[v], sums[i][v]);
        }
        a += kTurned ? stride : 1;
        b += kPanel<V>;
    }
    if (into == Into::add) {
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
            const V x = V::all(factor == nullptr ? 1.0F : factor[i]);
#pragma GCC unroll 8
            for (int v = 0; v < kVectors; ++v) {
                const V before = V::load(c + i * c_stride + v * V::kLanes);
                sums[i][v] = V::fma(x, before, sums[i][v]);
            }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) sums[i][v].store(c + i * c_stride + v * V::kLanes);
    }
}

template <class V, int kRows, int kVectors, bool kTurned>
void last_rows(int rows, const Product& p, const float* a, const float* b, float* c,
               const float* factor) {
    if (rows == kRows) {
        product_block<V, kRows, kVectors, kTurned>(p, a, b, c, factor);
    } else if constexpr (kRows > 1) {
        last_rows<V, kRows - 1, kVectors, kTurned>(rows, p, a, b, c, factor);
    }
}

template <class V, int kVectors, bool kTurned>
void product_panel(const Product& p, const float* b, float* c) {
    const std::int64_t step = kTurned ? 1 : p.a_stride;
    const auto factor = [&](int i) { return p.factor == nullptr ? nullptr : p.factor + i; };
    int i = 0;
    for (; i + V::kRows <= p.m; i += V::kRows) {
        product_block<V, V::kRows, kVectors, kTurned>(p, p.a + i * step, b, c + i * p.c_stride,
                                                      factor(i));
    }
    if (i < p.m) {
        last_rows<V, V::kRows - 1, kVectors, kTurned>(p.m - i, p, p.a + i * step, b,
                                                      c + i * p.c_stride, factor(i));
    }
}

template <class V, bool kTurned>
void product_panels(const Product& p) {
    const float* b = p.b;
    for (int j = 0; j < p.n; j += kPanel<V>, b += p.panel_stride) {
        if (p.n - j > V::kLanes) {
            product_panel<V, 2, kTurned>(p, b, p.c + j);
        } else {
            product_panel<V, 1, kTurned>(p, b, p.c + j);
        }
    }
}

template <class V>
void product(const Product& p) {
    if (p.a_turned) {
        product_panels<V, true>(p);
    } else {
        product_panels<V, false>(p);
    }
}

template <class V>
void add_row(float* c, float factor, const float* part, int n) {
    const V factors = V::all(factor);
    for (int i = 0; i < n; i += V::kLanes) {
        V::fma(factors, V::load(c + i), V::load(part + i)).store(c + i);
    }
}

// --- Exponentials ---

// (2^f - 1) / f for |f| <= 1/2, to 1.3e-8 of its value: interpolated at Chebyshev's points.
template <class V>
V power_slope(V f) {
    V q = V::all(0.000154531629F);
    q = V::fma(q, f, V::all(0.00133908634F));
    q = V::fma(q, f, V::all(0.00961808256F));
    q = V::fma(q, f, V::all(0.0555035711F));
    q = V::fma(q, f, V::all(0.240226508F));
    return V::fma(q, f, V::all(0.693147188F));
}

// 2^x; 0 below the smallest normal number, since products with others are slow.
template <class V>
V power(V x) {
    const V least = V::all(-126.0F);
    const V bounded = x.bounded();
    const V n = bounded.round();
    const V f = bounded - n;
    const V y = V::fma(f, power_slope(f), V::all(1.0F)).times_power(n);
    return V::select(V::less(x, least), V::zero(), y);
}

// tanh(x) of 2 log2(e) x, by 2^n (2^f - 1) + (2^n - 1): precise near 0 too.
template <class V>
V tanh_of(V doubled) {
    const V magnitude = V::min(V::all(64.0F), V::max(doubled, V::zero() - doubled));
    const V n = magnitude.round();
    const V f = magnitude - n;
    const V whole = V::all(1.0F).times_power(n);
    const V e = V::fma(whole, f * power_slope(f), whole - V::all(1.0F));
    const V t = e / (e + V::all(2.0F));
    return V::select(V::less(doubled, V::zero()), V::zero() - t, t);
}

// --- Scores ---

template <class V>
struct Score {
    V value, slope;  // slope: of the modifier
};

template <class V>
Score<V> modified(const Scores& t, int key, int query, V value) {
    V slope = V::all(1.0F);
    if (t.cap != 0) {
        const V x = tanh_of(value);
        value = V::all(t.cap) * x;
        slope = slope - x * x;
    }
    if (t.slope != nullptr) {
        const V distance = V::load(t.position + query) - V::all(static_cast<float>(key));
        const V length = V::max(distance, V::zero() - distance);
        value = value - V::load(t.slope + query) * length;
    }
    if (t.bias != nullptr) value = value + V::load(t.bias + key * kQueryTile + query);
    return {value, slope};
}

template <class V>
typename V::Mask sees(const SeenKeys& seen, int key, int query) {
    const V j = V::all(static_cast<float>(key));
    const auto within = [&](int span) {
        // Whole numbers: lo <= j is lo - 1 < j.
        return V::both(V::less(V::load(seen.lo[span] + query) - V::all(1.0F), j),
                       V::less(j, V::load(seen.hi[span] + query)));
    };
    auto mask = V::either(within(0), within(1));
    if (seen.blocks != nullptr) {
        mask = V::both(mask, V::less(V::zero(), V::load(seen.blocks + key * kQueryTile + query)));
    }
    return mask;
}

template <class V, int kGroup, bool kPlain>
void softmax_group(const Scores& t, const Softmax& softmax, int query) {
    const V nothing = V::all(-__builtin_inff());
    Array<V, kGroup> largest, base, sum;
    for (int g = 0; g < kGroup; ++g) {
        largest[g] = V::load(softmax.largest + query + g * V::kLanes);
        sum[g] = V::zero();
    }
    for (int key = 0; key < t.keys; ++key) {
        for (int g = 0; g < kGroup; ++g) {
            const int at = query + g * V::kLanes;
            float* s = t.s + key * kQueryTile + at;
            V value = V::load(s);
            if constexpr (!kPlain) {
                value = modified(t, key, at, value).value;
                if (t.seen != nullptr) {
                    value = V::select(sees<V>(*t.seen, key, at), value, nothing);
                }
                value.store(s);
            }
            largest[g] = V::max(value, largest[g]);
        }
    }
    for (int g = 0; g < kGroup; ++g) {
        float* before = softmax.largest + query + g * V::kLanes;
        // Where no key was seen yet, any finite number in its place gives powers of 0.
        base[g] = V::select(V::less(nothing, largest[g]), largest[g], V::zero());
        power(V::load(before) - base[g]).store(softmax.shrink + query + g * V::kLanes);
        largest[g].store(before);
    }
    for (int key = 0; key < t.keys; ++key) {
        for (int g = 0; g < kGroup; ++g) {
            float* s = t.s + key * kQueryTile + query + g * V::kLanes;
            const V p = power(V::load(s) - base[g]);
            sum[g] = sum[g] + p;
            p.store(s);
        }
    }
    for (int g = 0; g < kGroup; ++g) {
        const int at = query + g * V::kLanes;
        V::fma(V::load(softmax.sum + at), V::load(softmax.shrink + at), sum[g])
            .store(softmax.sum + at);
    }
}

template <class V, int kGroup, bool kPlain>
void gradient_group(const Scores& t, float* d_p, const float* lse, const float* delta, int query) {
    Array<V, kGroup> lses, deltas;
    for (int g = 0; g < kGroup; ++g) {
        lses[g] = V::load(lse + query + g * V::kLanes);
        deltas[g] = V::load(delta + query + g * V::kLanes);
    }
    for (int key = 0; key < t.keys; ++key) {
        for (int g = 0; g < kGroup; ++g) {
            const int at = query + g * V::kLanes;
            float* s = t.s + key * kQueryTile + at;
            float* d = d_p + key * kQueryTile + at;
            const V value = V::load(s);
            const V rise = V::load(d) - deltas[g];
            if constexpr (kPlain) {
                const V p = power(value - lses[g]);
                p.store(s);
                (p * rise).store(d);
            } else {
                const Score<V> score = modified(t, key, at, value);
                V p = power(score.value - lses[g]);
                V d_s = p * rise * score.slope;
                if (t.seen != nullptr) {
                    const auto seen = sees<V>(*t.seen, key, at);
                    p = V::select(seen, p, V::zero());
                    d_s = V::select(seen, d_s, V::zero());
                }
                p.store(s);
                d_s.store(d);
            }
        }
    }
}

inline bool is_plain(const Scores& t) {
    return t.cap == 0 && t.slope == nullptr && t.bias == nullptr && t.seen == nullptr;
}

template <class V, bool kPlain>
void softmax_tile(const Scores& t, const Softmax& softmax) {
    int query = 0;
    for (; query + V::kLanes < t.queries; query += 2 * V::kLanes) {
        softmax_group<V, 2, kPlain>(t, softmax, query);
    }
    if (query < t.queries) softmax_group<V, 1, kPlain>(t, softmax, query);
}

template <class V>
void softmax(const Scores& t, const Softmax& softmax) {
    if (is_plain(t)) {
        softmax_tile<V, true>(t, softmax);
    } else {
        softmax_tile<V, false>(t, softmax);
    }
}

template <class V, bool kPlain>
void gradient_tile(const Scores& t, float* d_p, const float* lse, const float* delta) {
    int query = 0;
    for (; query + V::kLanes < t.queries; query += 2 * V::kLanes) {
        gradient_group<V, 2, kPlain>(t, d_p, lse, delta, query);
    }
    if (query < t.queries) gradient_group<V, 1, kPlain>(t, d_p, lse, delta, query);
}

template <class V>
void gradient(const Scores& t, float* d_p, const float* lse, const float* delta) {
    if (is_plain(t)) {
        gradient_tile<V, true>(t, d_p, lse, delta);
    } else {
        gradient_tile<V, false>(t, d_p, lse, delta);
    }
}

template <class V>
constexpr AttentionKernels attention_kernels_of(std::string_view name) {
    return {.name = name,
            .panel = kPanel<V>,
            .rows = copy_rows<V>,
            .panels = copy_panels<V>,
            .turned = copy_turned<V>,
            .narrow = narrow_row<V>,
            .dot = dot_rows<V>,
            .product = product<V>,
            .add = add_row<V>,
            .softmax = softmax<V>,
            .gradient = gradient<V>};
}

}  // namespace
}  // namespace assay::cpu
