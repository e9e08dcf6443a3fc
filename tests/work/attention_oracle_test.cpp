#include "work/attention_oracle.h"

#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "work/fill.h"

namespace assay::work {
namespace {

using T = AttentionTensor;

// Values in double, changed one at a time.
class Values final : public AttentionSource {
  public:
    explicit Values(const Attention& p) : problem_(p) {
        for (const T tensor : {T::q, T::k, T::v, T::o}) {
            auto& values = of_[tensor];
            values.resize(static_cast<std::size_t>(extent(p, tensor)));
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = fill_value(
                    {Distribution::normal, 5, static_cast<std::uint32_t>(tensor)}, Type::fp64, i);
            }
        }
    }
    // `tensor` o stands for the loss's gradient to it.
    double& at(T tensor, std::int64_t entry, std::int64_t head, std::int64_t row, std::int64_t d) {
        return of_[tensor]
                  [static_cast<std::size_t>(position(problem_, tensor, entry, head, row) + d)];
    }
    void read(T tensor, std::int64_t entry, std::int64_t head, std::int64_t row,
              std::span<double> into) const override {
        const auto first = position(problem_, tensor, entry, head, row);
        std::copy_n(of_.at(tensor).begin() + first, into.size(), into.begin());
    }
    void read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                       std::span<double> into) const override {
        read(T::o, entry, head, row, into);
    }
    double bias(std::int64_t head, std::int64_t query, std::int64_t key) const override {
        return 0.1 * static_cast<double>((7 * head + 3 * query + 5 * key) % 11 - 5);
    }

  private:
    const Attention& problem_;
    std::map<T, std::vector<double>> of_;
};

Attention small(const char* mask, const char* modifier, std::int64_t queries, std::int64_t keys,
                std::int64_t heads = 2, std::int64_t kv_heads = 1) {
    Attention p;
    p.heads = heads;
    p.kv_heads = kv_heads;
    p.queries = queries;
    p.keys = keys;
    p.dim = 3;
    p.value_dim = 2;
    p.mask = parse_mask(mask, queries, keys);
    p.modifier = parse_score_modifier(modifier);
    lay_out(p, AttentionLayout::bhsd);
    validate(p);
    return p;
}

// The loss whose gradient to o is what the source gives: sum of o d_o.
double loss(const Attention& p, const Values& values) {
    const AttentionOracle oracle(p, values, 0);
    double sum = 0;
    for (std::int64_t h = 0; h < p.heads; ++h) {
        for (std::int64_t i = 0; i < p.queries; ++i) sum += oracle.row(h, i).delta;
    }
    return sum;
}

TEST(AttentionOracle, OneVisibleKeyGivesItsValue) {
    const auto p = small("causal+window:1", "none", 4, 4);
    Values values(p);
    const AttentionOracle oracle(p, values, 0);
    for (std::int64_t i = 0; i < 4; ++i) {
        const auto out = oracle.output(1, i);
        EXPECT_DOUBLE_EQ(out.o[0], values.at(T::v, 0, 0, i, 0));
        double product = 0;
        for (int d = 0; d < 3; ++d) {
            product += values.at(T::q, 0, 1, i, d) * values.at(T::k, 0, 0, i, d);
        }
        EXPECT_NEAR(out.lse, product / std::sqrt(3.0), 1e-15);
    }
}

TEST(AttentionOracle, EqualScoresGiveTheMean) {
    const auto p = small("full", "none", 1, 5);
    Values values(p);
    for (int d = 0; d < 3; ++d) values.at(T::q, 0, 0, 0, d) = 0;
    double mean = 0;
    for (std::int64_t j = 0; j < 5; ++j) mean += values.at(T::v, 0, 0, j, 1) / 5;
    const auto out = AttentionOracle(p, values, 0).output(0, 0);
    EXPECT_NEAR(out.o[1], mean, 1e-15);
    EXPECT_NEAR(out.lse, std::log(5.0), 1e-15);
}

TEST(AttentionOracle, ModifiersChangeTheScore) {
    const auto plain = small("full", "none", 3, 4);
    Values values(plain);
    const auto lse_of = [&](const char* modifier, std::int64_t head, std::int64_t query,
                            auto change) {
        const auto p = small("full", modifier, 3, 4);
        double sum = 0;
        for (std::int64_t j = 0; j < 4; ++j) {
            double product = 0;
            for (int d = 0; d < 3; ++d) {
                product += values.at(T::q, 0, head, query, d) * values.at(T::k, 0, 0, j, d);
            }
            sum += std::exp(change(product / std::sqrt(3.0), j));
        }
        EXPECT_NEAR(AttentionOracle(p, values, 0).output(head, query).lse, std::log(sum), 1e-14)
            << modifier;
    };
    lse_of("softcap:0.7", 1, 2, [](double s, auto) { return 0.7 * std::tanh(s / 0.7); });
    lse_of("alibi", 1, 2, [](double s, std::int64_t j) {
        return s - std::abs(2.0 - static_cast<double>(j)) / 256;
    });
    lse_of("bias", 1, 2, [&](double s, std::int64_t j) { return s + values.bias(1, 2, j); });
}

TEST(AttentionOracle, ARowThatSeesNothingGivesNothing) {
    const auto p = small("causal:bottom-right", "none", 5, 2);
    const Values values(p);
    const AttentionOracle oracle(p, values, 0);
    const auto out = oracle.output(0, 1);
    EXPECT_EQ(out.o, (std::vector<double>{0, 0}));
    EXPECT_EQ(out.lse, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(oracle.d_q(0, 1), (std::vector<double>{0, 0, 0}));
}

TEST(AttentionOracle, KnowsHowLargeTheTermsOfAVanishingGradientAre) {
    const auto p = small("causal", "none", 3, 3);
    Values values(p);
    const AttentionOracle oracle(p, values, 0);
    const auto norm_of = [&](T tensor, std::int64_t head, std::int64_t count) {
        double squares = 0;
        for (std::int64_t d = 0; d < count; ++d) {
            squares += std::pow(values.at(tensor, 0, head, 0, d), 2);
        }
        return std::sqrt(squares);
    };
    std::vector<double> d_o(2);
    values.read_gradient(0, 1, 0, d_o);
    // The first row sees one key: o = v, and what multiplies k is d_o v - d_o v.
    const double term =
        2 * std::hypot(d_o[0], d_o[1]) * norm_of(T::v, 0, 2) * norm_of(T::k, 0, 3) / std::sqrt(3.0);
    const auto gradient = oracle.query_gradient(1, 0, oracle.output(1, 0));
    EXPECT_NEAR(gradient.d_q[0], 0, 1e-15);
    EXPECT_NEAR(gradient.terms.sum, term, 1e-14);
    EXPECT_NEAR(std::sqrt(gradient.terms.squares), term, 1e-14);
    const double products =
        std::hypot(d_o[0] * values.at(T::v, 0, 0, 0, 0), d_o[1] * values.at(T::v, 0, 0, 0, 1));
    EXPECT_NEAR(gradient.by_output, products * norm_of(T::k, 0, 3) / std::sqrt(3.0), 1e-14);
    // Keys that cancel leave an error of delta nothing to act on, whatever their terms are.
    const auto two = small("full", "none", 1, 2);
    Values opposite(two);
    for (int d = 0; d < 3; ++d) {
        opposite.at(T::q, 0, 0, 0, d) = 0;  // each key weighs as much
        opposite.at(T::k, 0, 0, 1, d) = -opposite.at(T::k, 0, 0, 0, d);
    }
    const AttentionOracle of_two(two, opposite, 0);
    const auto cancelled = of_two.query_gradient(0, 0, of_two.output(0, 0));
    EXPECT_NEAR(cancelled.by_output, 0, 1e-15);
    EXPECT_GT(cancelled.terms.sum, 0.01);
}

// Gradients against central differences of the loss.
TEST(AttentionOracle, GradientsAreTheLosssDifferences) {
    for (const auto& [mask, modifier, queries, keys] :
         {std::tuple{"full", "none", 3, 4},
          {"causal", "none", 4, 4},
          {"causal:bottom-right", "softcap:0.8", 2, 4},
          {"causal+window:2", "alibi", 4, 4},
          {"causal+document:1/3", "bias", 4, 4},
          {"causal+prefix:2", "softcap:1+alibi+bias", 4, 4},
          {"causal:bottom-right", "none", 4, 2},
          {"blocks:2:0/0-1", "softcap:2", 4, 3}}) {
        const auto p = small(mask, modifier, queries, keys);
        Values values(p);
        const AttentionOracle oracle(p, values, 0);
        const auto row = [&](std::int64_t head, std::int64_t query) {
            return oracle.row(head, query);
        };
        constexpr double kStep = 1e-5;
        const auto expect_difference = [&](T tensor, std::int64_t head, std::int64_t at,
                                           std::int64_t d, double gradient) {
            double& value = values.at(tensor, 0, head, at, d);
            const double kept = value;
            value = kept + kStep;
            const double above = loss(p, values);
            value = kept - kStep;
            const double below = loss(p, values);
            value = kept;
            EXPECT_NEAR(gradient, (above - below) / (2 * kStep), 1e-8)
                << mask << ' ' << modifier << " tensor " << static_cast<int>(tensor) << " head "
                << head << " row " << at;
        };
        for (std::int64_t h = 0; h < p.heads; ++h) {
            for (std::int64_t i = 0; i < p.queries; ++i) {
                const auto d_q = oracle.d_q(h, i);
                for (std::int64_t d = 0; d < p.dim; ++d) {
                    expect_difference(T::q, h, i, d, d_q[static_cast<std::size_t>(d)]);
                }
            }
        }
        for (std::int64_t j = 0; j < p.keys; ++j) {
            const auto [d_k, d_v, terms] = oracle.key_gradient(0, j, row);
            for (std::int64_t d = 0; d < p.dim; ++d) {
                expect_difference(T::k, 0, j, d, d_k[static_cast<std::size_t>(d)]);
            }
            for (std::int64_t d = 0; d < p.value_dim; ++d) {
                expect_difference(T::v, 0, j, d, d_v[static_cast<std::size_t>(d)]);
            }
        }
    }
}

TEST(AttentionOracle, ALaterKeyLeavesEarlierRowsAsTheyAre) {
    const auto p = small("causal", "none", 6, 6);
    Values values(p);
    std::vector<AttentionOracle::Output> before;
    for (std::int64_t i = 0; i < 6; ++i) {
        before.push_back(AttentionOracle(p, values, 0).output(0, i));
    }
    values.at(T::k, 0, 0, 4, 0) = 1e9;
    values.at(T::v, 0, 0, 4, 1) = std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t i = 0; i < 6; ++i) {
        const auto after = AttentionOracle(p, values, 0).output(0, i);
        EXPECT_EQ(after.o == before[static_cast<std::size_t>(i)].o, i < 4) << i;
    }
}

TEST(AttentionOracle, ReadsTheEntryItIsOf) {
    auto p = small("causal", "none", 3, 3);
    p.batch = 2;
    p.query_lengths = p.key_lengths = {3, 2};
    lay_out(p, AttentionLayout::bshd);
    Values values(p);
    const AttentionOracle second(p, values, 1);
    EXPECT_DOUBLE_EQ(second.output(0, 0).o[1], values.at(T::v, 1, 0, 0, 1));
}

}  // namespace
}  // namespace assay::work
