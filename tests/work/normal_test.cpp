#include "work/normal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "work/philox.h"

namespace assay::work {
namespace {

constexpr double kUnit = 1.0 / (1 << kFixedFractionBits);

double value(std::uint32_t word) {
    return normal_of(word) * kUnit;
}

double cumulative(double z) {
    return 0.5 * std::erfc(-z / std::sqrt(2.0));
}
double density(double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
}

// The positive z of tail probability p: Newton's method on erfc from `start`.
double inverse_tail(double p, double start) {
    double z = start;
    for (int i = 0; i < 4; ++i) z += (cumulative(-z) - p) / density(z);
    return z;
}

double error_at(std::uint32_t word) {
    const double got = value(word);
    const double p = (static_cast<double>(word & 0x7FFFFFFF) + 0.5) / 0x1p32;
    return std::abs(std::abs(got) - inverse_tail(p, std::abs(got)));
}

TEST(Normal, InvertsTheDistributionFunction) {
    double worst = 0;
    for (std::uint64_t word = 0; word < std::uint64_t{1} << 31; word += 10007) {
        worst = std::max(worst, error_at(static_cast<std::uint32_t>(word)));
    }
    // The tail, where that step is coarse.
    for (std::uint32_t word = 0; word < 200'000; ++word) worst = std::max(worst, error_at(word));
    // Both sides of every octave's end.
    for (int bit = 1; bit < 31; ++bit) {
        for (std::uint32_t beside = 0; beside < 4; ++beside) {
            worst = std::max(worst, error_at((1U << bit) + beside - 2));
        }
    }
    EXPECT_LT(worst, 2.5e-7);
}

TEST(Normal, ReachesBeyondSixSigma) {
    EXPECT_NEAR(value(0x80000000), -6.3379, 1e-4);
    EXPECT_NEAR(value(0), 6.3379, 1e-4);
    EXPECT_NEAR(value(0x7FFFFFFF), 0, 1e-6);
}

TEST(Normal, IsSymmetric) {
    for (std::uint64_t word = 0; word < std::uint64_t{1} << 31; word += 9973) {
        const auto w = static_cast<std::uint32_t>(word);
        ASSERT_EQ(normal_of(w), -normal_of(w | 0x80000000)) << w;
    }
}

TEST(Normal, HasTheMomentsAndDistributionOfTheNormal) {
    constexpr std::size_t kCount = 10'000'000;
    std::vector<double> values(kCount);
    for (std::size_t i = 0; i < kCount; i += 4) {
        const Words4 words = philox({{static_cast<std::uint32_t>(i / 4), 0, 0, 0}}, 1, 2);
        for (std::size_t j = 0; j < 4; ++j) values[i + j] = value(words.w[j]);
    }
    std::array<double, 5> moments{};
    for (const double z : values) {
        double power = 1;
        for (auto& moment : moments) {
            moment += power;
            power *= z;
        }
    }
    for (auto& moment : moments) moment /= kCount;
    // Four standard errors of each: sqrt(1, 2, 15, 96 / n).
    const double root = std::sqrt(static_cast<double>(kCount));
    EXPECT_NEAR(moments[1], 0, 4 / root);
    EXPECT_NEAR(moments[2], 1, 4 * std::sqrt(2.0) / root);
    EXPECT_NEAR(moments[3], 0, 4 * std::sqrt(15.0) / root);
    EXPECT_NEAR(moments[4], 3, 4 * std::sqrt(96.0) / root);

    // Kolmogorov-Smirnov: sqrt(n) D is below 1.95 with probability 0.999. Instead of sorting, the
    // counts below a fine grid; between its points neither function moves by more than a bin holds.
    constexpr int kBins = 1 << 16;
    constexpr double kRange = 6.5;
    std::vector<double> counts(kBins);
    for (const double z : values) {
        counts[static_cast<std::size_t>((z + kRange) / (2 * kRange) * kBins)] += 1;
    }
    double below = 0, distance = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
        below += counts[i];
        const double z = -kRange + 2 * kRange * static_cast<double>(i + 1) / kBins;
        distance = std::max(distance, std::abs(below / kCount - cumulative(z)));
    }
    EXPECT_LT(distance * root, 1.95);
}

}  // namespace
}  // namespace assay::work
