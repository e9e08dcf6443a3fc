// What the oracle makes of every row of an attention problem, and how far from it others may be.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "work/attention.h"
#include "work/attention_oracle.h"

namespace assay::work {

// Calls visit(entry, head, row) for every row of a tensor.
template <class Visit>
void each_row(const Attention& problem, AttentionTensor tensor, const Visit& visit) {
    for (std::int64_t entry = 0; entry < problem.batch; ++entry) {
        const auto rows =
            is_of_queries(tensor) ? queries_of(problem, entry) : keys_of(problem, entry);
        for (std::int64_t head = 0; head < heads_of(problem, tensor); ++head) {
            for (std::int64_t row = 0; row < rows; ++row) visit(entry, head, row);
        }
    }
}

// Of every row, as each_row() goes.
struct AttentionAnswer {
    std::vector<double> o, lse, d_q, d_k, d_v;
};

inline AttentionAnswer expected(const Attention& problem, const AttentionSource& source) {
    AttentionAnswer answer;
    const auto append = [](std::vector<double>& to, const std::vector<double>& row) {
        to.insert(to.end(), row.begin(), row.end());
    };
    for (std::int64_t entry = 0; entry < problem.batch; ++entry) {
        const AttentionOracle oracle(problem, source, entry);
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
                source.read_gradient(entry, head, query, d_o);
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

// What rounding may make of relative_error().
inline double tolerance(Type type) {
    return type == Type::fp32 ? 1e-5 : type == Type::fp16 ? 2e-3 : 1e-2;
}

}  // namespace assay::work
