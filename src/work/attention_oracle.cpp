#include "work/attention_oracle.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace assay::work {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double norm(const std::vector<double>& a) {
    return std::sqrt(dot(a, a));
}

void add(std::vector<double>& to, double factor, const std::vector<double>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

}  // namespace

void TermSizes::add(double term) {
    squares += term * term;
    sum += std::abs(term);
}

AttentionOracle::AttentionOracle(const Attention& problem, const AttentionSource& source,
                                 std::int64_t entry)
    : problem_(problem),
      source_(source),
      entry_(entry),
      scale_(scale_of(problem)),
      rows_(problem.mask, queries_of(problem, entry), keys_of(problem, entry)) {}

std::vector<double> AttentionOracle::read(AttentionTensor tensor, std::int64_t head,
                                          std::int64_t row) const {
    std::vector<double> values(static_cast<std::size_t>(width_of(problem_, tensor)));
    source_.read(tensor, entry_, head, row, values);
    return values;
}

std::vector<double> AttentionOracle::gradient(std::int64_t head, std::int64_t query) const {
    std::vector<double> values(static_cast<std::size_t>(problem_.value_dim));
    source_.read_gradient(entry_, head, query, values);
    return values;
}

AttentionOracle::Score AttentionOracle::score(std::int64_t head, std::int64_t query,
                                              std::int64_t key, double product) const {
    const auto& modifier = problem_.modifier;
    Score score{scale_ * product, 1};
    if (modifier.soft_cap > 0) {
        const double t = std::tanh(score.value / modifier.soft_cap);
        score = {modifier.soft_cap * t, 1 - t * t};
    }
    if (modifier.alibi) {
        const auto distance = static_cast<double>(std::abs(rows_.position(query) - key));
        score.value -= alibi_slope(head, problem_.heads) * distance;
    }
    if (modifier.bias) score.value += source_.bias(head, query, key);
    return score;
}

AttentionOracle::Output AttentionOracle::output(std::int64_t head, std::int64_t query) const {
    const auto q = read(AttentionTensor::q, head, query);
    const auto kv_head = kv_head_of(problem_, head);
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    std::vector<double> o(static_cast<std::size_t>(problem_.value_dim));
    for (const auto& span : rows_.seen(query)) {
        for (auto key = span.lo; key < span.hi; ++key) {
            const double s =
                score(head, query, key, dot(q, read(AttentionTensor::k, kv_head, key))).value;
            if (s > largest) {
                const double shrink = std::exp(largest - s);
                sum *= shrink;
                for (double& x : o) x *= shrink;
                largest = s;
            }
            const double p = std::exp(s - largest);
            sum += p;
            add(o, p, read(AttentionTensor::v, kv_head, key));
        }
    }
    if (sum == 0) return {largest, std::move(o)};
    for (double& x : o) x /= sum;
    return {largest + std::log(sum), std::move(o)};
}

AttentionRow AttentionOracle::row(std::int64_t head, std::int64_t query) const {
    const auto out = output(head, query);
    const auto d_o = gradient(head, query);
    return {out.lse, dot(out.o, d_o), norm(out.o) * norm(d_o)};
}

std::vector<double> AttentionOracle::d_q(std::int64_t head, std::int64_t query) const {
    return query_gradient(head, query, output(head, query)).d_q;
}

AttentionOracle::QueryGradient AttentionOracle::query_gradient(std::int64_t head,
                                                               std::int64_t query,
                                                               const Output& forward) const {
    const auto q = read(AttentionTensor::q, head, query);
    const auto d_o = gradient(head, query);
    const auto kv_head = kv_head_of(problem_, head);
    const double delta = dot(forward.o, d_o), size = norm(d_o), bound = size * norm(forward.o);
    QueryGradient gradient{std::vector<double>(q.size()), {}};
    std::vector<double> by_delta(q.size());
    for (const auto& span : rows_.seen(query)) {
        for (auto key = span.lo; key < span.hi; ++key) {
            const auto k = read(AttentionTensor::k, kv_head, key);
            const auto s = score(head, query, key, dot(q, k));
            const auto v = read(AttentionTensor::v, kv_head, key);
            const double weight = scale_ * std::exp(s.value - forward.lse) * s.slope;
            add(gradient.d_q, weight * (dot(d_o, v) - delta), k);
            add(by_delta, weight, k);
            gradient.terms.add(weight * (size * norm(v) + bound) * norm(k));
        }
    }
    double squares = 0;
    for (std::size_t i = 0; i < d_o.size(); ++i) squares += std::pow(d_o[i] * forward.o[i], 2);
    gradient.by_output = std::sqrt(squares) * norm(by_delta);
    return gradient;
}

AttentionOracle::KeyGradient AttentionOracle::key_gradient(
    std::int64_t kv_head, std::int64_t key,
    const std::function<AttentionRow(std::int64_t head, std::int64_t query)>& row) const {
    const auto k = read(AttentionTensor::k, kv_head, key);
    const auto v = read(AttentionTensor::v, kv_head, key);
    KeyGradient gradients{std::vector<double>(k.size()), std::vector<double>(v.size()), {}};
    const double size = norm(v);
    const auto group = problem_.heads / problem_.kv_heads;
    for (std::int64_t query = 0; query < rows_.queries(); ++query) {
        if (!rows_.sees(query, key)) continue;
        for (auto head = kv_head * group; head < (kv_head + 1) * group; ++head) {
            const auto q = read(AttentionTensor::q, head, query);
            const auto d_o = gradient(head, query);
            const auto [lse, delta, bound] = row(head, query);
            const auto s = score(head, query, key, dot(q, k));
            const double p = std::exp(s.value - lse);
            const double weight = scale_ * p * s.slope;
            add(gradients.d_v, p, d_o);
            add(gradients.d_k, weight * (dot(d_o, v) - delta), q);
            gradients.terms.add(weight * (norm(d_o) * size + bound) * norm(q));
        }
    }
    return gradients;
}

}  // namespace assay::work
