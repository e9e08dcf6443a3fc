// The arrays of an attention problem in host memory, filled and read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ops/attention.h"
#include "support/attention_answer.h"
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

    std::vector<double> row(const std::vector<std::byte>& array, AttentionTensor tensor,
                            std::int64_t entry, std::int64_t head, std::int64_t index) const {
        std::vector<double> values(static_cast<std::size_t>(width_of(problem_, tensor)));
        copy(array, tensor, entry, head, index, values);
        return values;
    }

    // All elements of a tensor, row after row as each_row() goes.
    std::vector<double> values(const std::vector<std::byte>& array, AttentionTensor tensor) const {
        std::vector<double> values;
        std::vector<double> row(static_cast<std::size_t>(width_of(problem_, tensor)));
        each_row(problem_, tensor, [&](auto entry, auto head, auto index) {
            copy(array, tensor, entry, head, index, row);
            values.insert(values.end(), row.begin(), row.end());
        });
        return values;
    }

    // Whether nothing between the rows of a result was written.
    bool gaps_are_unwritten(const std::vector<std::byte>& array, AttentionTensor tensor) const {
        auto left = array;
        const auto size = size_in(tensor);
        each_row(problem_, tensor, [&](auto entry, auto head, auto row) {
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

}  // namespace assay::work
