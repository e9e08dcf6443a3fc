// The arrays of an attention problem in host memory, and the oracle's answer for every row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "ops/attention.h"
#include "work/attention.h"
#include "work/attention_oracle.h"
#include "work/fill.h"

namespace assay::work {

// Operands are filled with normal numbers, gaps between rows too; results with a byte that shows
// where nothing was written. Each array ends with its last row.
class AttentionArrays : public AttentionSource {
  public:
    explicit AttentionArrays(const Attention& problem, std::uint64_t seed = 1) : problem_(problem) {
        std::uint32_t stream = 0;
        const auto filled = [&](std::int64_t count) {
            const FillSpec spec{.seed = seed, .stream = stream++};
            std::vector<std::byte> array(static_cast<std::size_t>(count) * size_of(problem.type));
            fill(spec, problem.type, 0, static_cast<std::uint64_t>(count), array.data());
            return array;
        };
        q = filled(extent(problem, AttentionTensor::q));
        k = filled(extent(problem, AttentionTensor::k));
        v = filled(extent(problem, AttentionTensor::v));
        d_o = filled(extent(problem, AttentionTensor::o));
        if (problem.modifier.bias) biases = filled(problem.heads * problem.queries * problem.keys);
        clear();
    }

    void clear() {
        o.assign(d_o.size(), kUnwritten);
        lse.assign(static_cast<std::size_t>(extent(problem_, AttentionTensor::lse)) * sizeof(float),
                   kUnwritten);
        d_q.assign(q.size(), kUnwritten);
        d_k.assign(k.size(), kUnwritten);
        d_v.assign(v.size(), kUnwritten);
    }

    const Attention& problem() const { return problem_; }

    // For a device that works in host memory.
    ops::AttentionOperands operands() {
        return {.q = q.data(),
                .k = k.data(),
                .v = v.data(),
                .bias = biases.empty() ? nullptr : biases.data(),
                .o = o.data(),
                .lse = static_cast<float*>(static_cast<void*>(lse.data())),
                .d_o = d_o.data(),
                .d_q = d_q.data(),
                .d_k = d_k.data(),
                .d_v = d_v.data()};
    }

    void read(AttentionTensor tensor, std::int64_t entry, std::int64_t head, std::int64_t row,
              std::span<double> into) const override {
        copy(tensor == AttentionTensor::q   ? q
             : tensor == AttentionTensor::k ? k
                                            : v,
             tensor, entry, head, row, into);
    }
    void read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                       std::span<double> into) const override {
        copy(d_o, AttentionTensor::o, entry, head, row, into);
    }
    double bias(std::int64_t head, std::int64_t query, std::int64_t key) const override {
        const auto at = (head * problem_.queries + query) * problem_.keys + key;
        return load(problem_.type, biases.data(), static_cast<std::uint64_t>(at));
    }

    // Calls visit(entry, head, row) for every row of a tensor.
    template <class Visit>
    void each_row(AttentionTensor tensor, const Visit& visit) const {
        for (std::int64_t entry = 0; entry < problem_.batch; ++entry) {
            const auto rows =
                is_of_queries(tensor) ? queries_of(problem_, entry) : keys_of(problem_, entry);
            for (std::int64_t head = 0; head < heads_of(problem_, tensor); ++head) {
                for (std::int64_t row = 0; row < rows; ++row) visit(entry, head, row);
            }
        }
    }

    // All elements of a tensor, row after row as each_row() goes.
    std::vector<double> values(const std::vector<std::byte>& array, AttentionTensor tensor) const {
        std::vector<double> values;
        std::vector<double> row(static_cast<std::size_t>(width_of(problem_, tensor)));
        each_row(tensor, [&](auto entry, auto head, auto index) {
            copy(array, tensor, entry, head, index, row);
            values.insert(values.end(), row.begin(), row.end());
        });
        return values;
    }

    // Whether nothing between the rows of a result was written.
    bool gaps_are_unwritten(const std::vector<std::byte>& array, AttentionTensor tensor) const {
        auto left = array;
        const auto size = size_in(tensor);
        each_row(tensor, [&](auto entry, auto head, auto row) {
            const auto at = static_cast<std::size_t>(position(problem_, tensor, entry, head, row));
            const auto width = static_cast<std::size_t>(width_of(problem_, tensor));
            std::fill_n(left.begin() + static_cast<std::ptrdiff_t>(at * size), width * size,
                        kUnwritten);
        });
        return std::ranges::all_of(left, [](std::byte byte) { return byte == kUnwritten; });
    }

    std::vector<std::byte> q, k, v, biases, d_o;
    std::vector<std::byte> o, lse, d_q, d_k, d_v;

  private:
    static constexpr std::byte kUnwritten{0xA5};

    Type type_of(AttentionTensor tensor) const {
        return tensor == AttentionTensor::lse ? Type::fp32 : problem_.type;
    }
    std::size_t size_in(AttentionTensor tensor) const { return size_of(type_of(tensor)); }

    void copy(const std::vector<std::byte>& array, AttentionTensor tensor, std::int64_t entry,
              std::int64_t head, std::int64_t row, std::span<double> into) const {
        auto at = static_cast<std::uint64_t>(position(problem_, tensor, entry, head, row));
        for (double& value : into) value = load(type_of(tensor), array.data(), at++);
    }

    Attention problem_;
};

// In the order of AttentionArrays::values().
struct AttentionAnswer {
    std::vector<double> o, lse, d_q, d_k, d_v;
};

inline AttentionAnswer expected(const AttentionArrays& arrays) {
    const Attention& problem = arrays.problem();
    AttentionAnswer answer;
    const auto append = [](std::vector<double>& to, const std::vector<double>& row) {
        to.insert(to.end(), row.begin(), row.end());
    };
    for (std::int64_t entry = 0; entry < problem.batch; ++entry) {
        const AttentionOracle oracle(problem, arrays, entry);
        const auto queries = queries_of(problem, entry);
        std::vector<AttentionRow> rows;
        for (std::int64_t head = 0; head < problem.heads; ++head) {
            for (std::int64_t query = 0; query < queries; ++query) {
                const auto output = oracle.output(head, query);
                append(answer.o, output.o);
                answer.lse.push_back(output.lse);
                append(answer.d_q, oracle.d_q(head, query));
                double delta = 0;
                std::vector<double> d_o(output.o.size());
                arrays.read_gradient(entry, head, query, d_o);
                for (std::size_t i = 0; i < d_o.size(); ++i) delta += d_o[i] * output.o[i];
                rows.push_back({output.lse, delta});
            }
        }
        for (std::int64_t head = 0; head < problem.kv_heads; ++head) {
            for (std::int64_t key = 0; key < keys_of(problem, entry); ++key) {
                const auto gradient =
                    oracle.key_gradient(head, key, [&](std::int64_t h, std::int64_t query) {
                        return rows[static_cast<std::size_t>(h * queries + query)];
                    });
                append(answer.d_k, gradient.d_k);
                append(answer.d_v, gradient.d_v);
            }
        }
    }
    return answer;
}

// |got - want| / |want|; infinite where the sizes differ, a number isn't one, or an infinite one
// isn't met. Where all wanted ones are 0, |got|.
inline double relative_error(const std::vector<double>& got, const std::vector<double>& want) {
    constexpr double kWrong = std::numeric_limits<double>::infinity();
    if (got.size() != want.size()) return kWrong;
    double error = 0, size = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (std::isinf(want[i]) && got[i] == want[i]) continue;
        if (!std::isfinite(got[i]) || !std::isfinite(want[i])) return kWrong;
        error += (got[i] - want[i]) * (got[i] - want[i]);
        size += want[i] * want[i];
    }
    return std::sqrt(size > 0 ? error / size : error);
}

}  // namespace assay::work
