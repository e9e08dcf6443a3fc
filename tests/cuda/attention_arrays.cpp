#include "attention_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "work/fill.h"

namespace assay::cuda {
namespace {

using work::AttentionTensor;
using work::Type;

constexpr unsigned char kUntouched = 0xFF;  // NaN in every type
constexpr std::int64_t kGuard = 64;         // elements after the end

void fill_untouched(std::vector<unsigned char>& array, std::int64_t elements, Type type) {
    array.assign(static_cast<std::size_t>(elements) * work::size_of(type), kUntouched);
}

// Calls `use` with the place of each row and its number in order.
void each_row(const work::Attention& p, AttentionTensor tensor,
              const std::function<void(std::int64_t entry, std::int64_t head, std::int64_t row,
                                       std::int64_t at, std::int64_t number)>& use) {
    std::int64_t number = 0;
    for (std::int64_t e = 0; e < p.batch; ++e) {
        const auto rows =
            work::is_of_queries(tensor) ? work::queries_of(p, e) : work::keys_of(p, e);
        for (std::int64_t h = 0; h < work::heads_of(p, tensor); ++h) {
            for (std::int64_t r = 0; r < rows; ++r) {
                use(e, h, r, work::position(p, tensor, e, h, r), number++);
            }
        }
    }
}

double tolerance(Type type) {
    return type == Type::fp32 ? 1e-5 : type == Type::fp16 ? 2e-3 : 1e-2;
}

}  // namespace

AttentionExample::AttentionExample(work::Attention problem, std::int64_t shift)
    : problem_(std::move(problem)), shift_(shift) {
    work::validate(problem_);
    const auto type = problem_.type;
    std::uint32_t stream = 1;
    const auto size = [&](AttentionTensor tensor) {
        return work::extent(problem_, tensor) + shift_ + kGuard;
    };
    const auto operand = [&](std::vector<unsigned char>& array, AttentionTensor tensor) {
        fill_untouched(array, size(tensor), type);
        const auto width = work::width_of(problem_, tensor);
        const work::FillSpec spec{work::Distribution::normal, 5, stream++};
        each_row(problem_, tensor, [&](auto, auto, auto, std::int64_t at, std::int64_t number) {
            for (std::int64_t c = 0; c < width; ++c) {
                set(array, type, at + c,
                    work::fill_value(spec, type, static_cast<std::uint64_t>(number * width + c)));
            }
        });
    };
    operand(arrays_.q, AttentionTensor::q);
    operand(arrays_.k, AttentionTensor::k);
    operand(arrays_.v, AttentionTensor::v);
    operand(arrays_.d_o, AttentionTensor::o);
    fill_untouched(arrays_.o, size(AttentionTensor::o), type);
    fill_untouched(arrays_.lse, size(AttentionTensor::lse), Type::fp32);
    fill_untouched(arrays_.d_q, size(AttentionTensor::q), type);
    fill_untouched(arrays_.d_k, size(AttentionTensor::k), type);
    fill_untouched(arrays_.d_v, size(AttentionTensor::v), type);
    values_.q = decoded(arrays_.q);
    values_.k = decoded(arrays_.k);
    values_.v = decoded(arrays_.v);
    values_.d_o = decoded(arrays_.d_o);
    if (problem_.modifier.bias) {
        const auto count = problem_.heads * problem_.queries * problem_.keys;
        fill_untouched(arrays_.bias, count + shift_ + kGuard, type);
        for (std::int64_t i = 0; i < count; ++i) {
            set(arrays_.bias, type, i,
                work::fill_value({work::Distribution::normal, 5, 9}, type,
                                 static_cast<std::uint64_t>(i)));
        }
    }
}

std::vector<double> AttentionExample::decoded(const std::vector<unsigned char>& array) const {
    std::vector<double> values(array.size() / work::size_of(problem_.type));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = work::load(problem_.type, array.data(), i);
    }
    return values;
}

std::size_t AttentionExample::offset() const {
    return static_cast<std::size_t>(shift_) * work::size_of(problem_.type);
}

double AttentionExample::element(const std::vector<unsigned char>& array, Type type,
                                 std::int64_t at) const {
    // The log-sum-exps aren't shifted by less than a float.
    return work::load(type, array.data(), static_cast<std::uint64_t>(shift_ + at));
}

void AttentionExample::set(std::vector<unsigned char>& array, Type type, std::int64_t at,
                           double value) const {
    work::store(type, value,
                array.data() + static_cast<std::size_t>(shift_ + at) * work::size_of(type));
}

void AttentionExample::read(AttentionTensor tensor, std::int64_t entry, std::int64_t head,
                            std::int64_t row, std::span<double> into) const {
    const auto& values = tensor == AttentionTensor::q   ? values_.q
                         : tensor == AttentionTensor::k ? values_.k
                                                        : values_.v;
    const auto at = shift_ + work::position(problem_, tensor, entry, head, row);
    std::copy_n(values.begin() + at, into.size(), into.begin());
}

void AttentionExample::read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                                     std::span<double> into) const {
    const auto at = shift_ + work::position(problem_, AttentionTensor::o, entry, head, row);
    std::copy_n(values_.d_o.begin() + at, into.size(), into.begin());
}

double AttentionExample::bias(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return element(arrays_.bias, problem_.type,
                   (head * problem_.queries + query) * problem_.keys + key);
}

void AttentionExample::compute() const {
    if (!lse_.empty()) return;
    const auto append = [](std::vector<double>& to, const std::vector<double>& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    const auto value_dim = static_cast<std::size_t>(problem_.value_dim);
    for (std::int64_t e = 0; e < problem_.batch; ++e) {
        const work::AttentionOracle oracle(problem_, *this, e);
        const auto queries = work::queries_of(problem_, e), keys = work::keys_of(problem_, e);
        std::vector<work::AttentionRow> rows;
        for (std::int64_t h = 0; h < problem_.heads; ++h) {
            for (std::int64_t i = 0; i < queries; ++i) {
                const auto output = oracle.output(h, i);
                std::vector<double> gradient(value_dim);
                read_gradient(e, h, i, gradient);
                double delta = 0;
                for (std::size_t c = 0; c < value_dim; ++c) delta += gradient[c] * output.o[c];
                rows.push_back({output.lse, delta});
                append(o_, output.o);
                lse_.push_back(output.lse);
                append(d_q_, oracle.d_q(h, i));
            }
        }
        for (std::int64_t h = 0; h < problem_.kv_heads; ++h) {
            for (std::int64_t j = 0; j < keys; ++j) {
                const auto gradient =
                    oracle.key_gradient(h, j, [&](std::int64_t head, std::int64_t query) {
                        return rows[static_cast<std::size_t>(head * queries + query)];
                    });
                append(d_k_, gradient.d_k);
                append(d_v_, gradient.d_v);
            }
        }
    }
}

void AttentionExample::take_forward() {
    compute();
    const auto write = [&](std::vector<unsigned char>& array, AttentionTensor tensor, Type type,
                           const std::vector<double>& values) {
        const auto width = work::width_of(problem_, tensor);
        each_row(problem_, tensor, [&](auto, auto, auto, std::int64_t at, std::int64_t number) {
            for (std::int64_t c = 0; c < width; ++c) {
                set(array, type, at + c, values[static_cast<std::size_t>(number * width + c)]);
            }
        });
    };
    write(arrays_.o, AttentionTensor::o, problem_.type, o_);
    write(arrays_.lse, AttentionTensor::lse, Type::fp32, lse_);
}

std::string AttentionExample::compare(const char* what, const std::vector<unsigned char>& got,
                                      AttentionTensor tensor, Type type,
                                      const std::vector<double>& right) const {
    const auto width = work::width_of(problem_, tensor);
    auto rest = got;  // what no row has
    double off = 0, whole = 0;
    std::string mistake;
    each_row(
        problem_, tensor,
        [&](std::int64_t entry, std::int64_t head, std::int64_t row, std::int64_t at,
            std::int64_t number) {
            for (std::int64_t c = 0; c < width; ++c) {
                const double wanted = right[static_cast<std::size_t>(number * width + c)];
                const double value = element(got, type, at + c);
                const auto byte = static_cast<std::size_t>(shift_ + at + c) * work::size_of(type);
                std::memset(rest.data() + byte, kUntouched, work::size_of(type));
                const bool exact = wanted == 0 || std::isinf(wanted);
                const bool wrong = !std::isfinite(wanted) ? value != wanted : !std::isfinite(value);
                if ((wrong || (exact && wanted == 0 && std::abs(value) > 1e-3)) &&
                    mistake.empty()) {
                    mistake = fmt::format("{}[{}, {}, {}, {}] is {}, not {}", what, entry, head,
                                          row, c, value, wanted);
                }
                if (std::isfinite(wanted)) {
                    off += (value - wanted) * (value - wanted);
                    whole += wanted * wanted;
                }
            }
        });
    if (!mistake.empty()) return mistake;
    if (std::ranges::any_of(rest, [](unsigned char byte) { return byte != kUntouched; })) {
        return fmt::format("{} is written beside its rows", what);
    }
    const double error = whole > 0 ? std::sqrt(off / whole) : std::sqrt(off);
    if (error <= tolerance(problem_.type)) return "";
    return fmt::format("{} is off by {:.2e}", what, error);
}

std::string AttentionExample::forward_mistake() const {
    compute();
    auto mistake = compare("o", arrays_.o, AttentionTensor::o, problem_.type, o_);
    if (!mistake.empty()) return mistake;
    return compare("lse", arrays_.lse, AttentionTensor::lse, Type::fp32, lse_);
}

std::string AttentionExample::backward_mistake() const {
    compute();
    auto mistake = compare("d_v", arrays_.d_v, AttentionTensor::v, problem_.type, d_v_);
    if (mistake.empty()) {
        mistake = compare("d_k", arrays_.d_k, AttentionTensor::k, problem_.type, d_k_);
    }
    if (mistake.empty()) {
        mistake = compare("d_q", arrays_.d_q, AttentionTensor::q, problem_.type, d_q_);
    }
    return mistake;
}

namespace {

struct Row {
    const char* mask;
    const char* modifier;
    std::int64_t heads, kv_heads, queries, keys, dim, value_dim;
    work::AttentionLayout layout;
    std::int64_t batch = 1;
    // Unusual ones.
    std::int64_t shift = 0, gap = 0;
    double scale = 1;  // times the usual one
    std::vector<std::int64_t> query_lengths = {}, key_lengths = {};
};

constexpr auto kBhsd = work::AttentionLayout::bhsd;
constexpr auto kBshd = work::AttentionLayout::bshd;
constexpr auto kPacked = work::AttentionLayout::packed;

std::vector<Row> rows() {
    return {
        {"full", "none", 2, 2, 128, 128, 64, 64, kBhsd},
        {"full", "none", 1, 1, 1, 1, 8, 8, kBhsd},
        {"causal", "none", 4, 2, 200, 200, 128, 128, kBshd},
        {"causal:bottom-right", "softcap:2", 3, 1, 131, 67, 72, 72, kBhsd},
        {"causal+window:40", "alibi", 4, 4, 150, 150, 64, 64, kPacked, 2},
        {"window:33", "bias", 2, 1, 97, 193, 128, 64, kBhsd},
        {"causal+prefix:50", "softcap:3+alibi+bias", 2, 2, 160, 160, 64, 128, kBshd},
        {"causal+document:even:3", "none", 4, 1, 190, 190, 40, 40, kPacked},
        {"document:90/1/2/57", "softcap:1.5", 2, 1, 150, 150, 128, 128, kPacked},
        {"blocks:32:0,2/1/0-4/", "none", 2, 2, 100, 130, 128, 128, kBhsd},
        {"causal+blocks:23:0/0-1/1/0,2-3/1-4/5", "alibi+bias", 3, 3, 137, 137, 64, 64, kBshd},
        {"causal:bottom-right", "none", 8, 2, 1, 300, 128, 128, kBhsd, 2},
        {"causal:bottom-right+window:50", "alibi", 4, 2, 70, 190, 64, 64, kBshd},
        {"causal+window:16", "none", 2, 2, 150, 40, 128, 128, kBhsd},
        {"full", "alibi", 2, 1, 127, 131, 128, 128, kBshd},
        {"causal",
         "none",
         4,
         2,
         129,
         200,
         64,
         64,
         kBshd,
         4,
         0,
         0,
         1,
         {70, 0, 129, 1},
         {70, 5, 64, 200}},
        {"causal:bottom-right+window:30",
         "softcap:4",
         2,
         1,
         140,
         140,
         128,
         128,
         kPacked,
         3,
         0,
         0,
         1,
         {140, 33, 64},
         {140, 33, 64}},
        {"causal", "none", 2, 2, 140, 140, 192, 128, kBshd},
        {"causal+window:70", "softcap:2+alibi", 2, 1, 90, 90, 192, 128, kPacked},
        {"causal", "softcap:2", 2, 1, 90, 90, 256, 256, kBhsd},
        {"causal", "none", 2, 1, 70, 80, 576, 512, kBshd},
        {"full", "bias", 1, 1, 65, 66, 264, 136, kBhsd},
        // What no vector load takes: addresses, strides and sizes of heads.
        {"causal", "none", 2, 1, 70, 70, 64, 64, kBhsd, 1, 1},
        {"causal", "alibi", 2, 1, 70, 70, 64, 64, kBhsd, 1, 2, 3},
        {"causal+window:9", "none", 2, 1, 70, 70, 41, 13, kBhsd, 2, 0, 0},
        {"full", "softcap:2", 2, 1, 70, 40, 130, 67, kBshd, 1, 0, 1},
        {"causal", "none", 2, 2, 80, 80, 64, 64, kBshd, 2, 8, 8},
        // Where the largest product isn't the largest score.
        {"causal", "none", 2, 1, 80, 80, 64, 64, kBhsd, 1, 0, 0, -1},
        {"full", "none", 2, 1, 80, 80, 128, 128, kBhsd, 1, 0, 0, 0},
        {"full", "none", 2, 1, 80, 80, 128, 128, kBhsd, 1, 0, 0, 8},
    };
}

// Lets `gap` elements lie between rows, heads and entries.
void widen(work::Attention& p, AttentionTensor tensor, std::int64_t gap) {
    auto& strides = p.of(tensor);
    const auto heads = work::heads_of(p, tensor);
    const auto rows = work::is_of_queries(tensor) ? p.queries : p.keys;
    if (strides.head > strides.row) {
        strides.row += gap;
        strides.head = rows * strides.row + gap;
        strides.batch = heads * strides.head + gap;
    } else {
        strides.head += gap;
        strides.row = heads * strides.head + gap;
        strides.batch = rows * strides.row + gap;
    }
}

}  // namespace

std::vector<AttentionCase> attention_cases(Type type) {
    std::vector<AttentionCase> cases;
    for (const auto& row : rows()) {
        work::Attention p;
        p.batch = row.batch;
        p.heads = row.heads;
        p.kv_heads = row.kv_heads;
        p.queries = row.queries;
        p.keys = row.keys;
        p.dim = row.dim;
        p.value_dim = row.value_dim;
        p.type = type;
        p.mask = work::parse_mask(row.mask, row.queries, row.keys);
        p.modifier = work::parse_score_modifier(row.modifier);
        p.query_lengths = row.query_lengths;
        p.key_lengths = row.key_lengths;
        if (row.scale != 1) p.scale = row.scale * work::scale_of(p);
        work::lay_out(p, row.layout);
        if (row.gap > 0) {
            for (int t = 0; t < work::kAttentionTensors; ++t) {
                widen(p, static_cast<AttentionTensor>(t), row.gap);
            }
        }
        cases.push_back({fmt::format("{} {} {} {}/{} {}x{} {}/{} {}{}{}", work::name(type),
                                     row.mask, row.modifier, row.heads, row.kv_heads, row.queries,
                                     row.keys, row.dim, row.value_dim, work::name(row.layout),
                                     row.query_lengths.empty() ? "" : " ragged",
                                     row.shift + row.gap > 0 ? " odd strides" : ""),
                         p, row.shift});
    }
    return cases;
}

}  // namespace assay::cuda
