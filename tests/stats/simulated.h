// Random series with a known median, for tests of what the estimators promise.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace assay::stats {

enum class Shape { Normal, StudentT3 };

// 1 + noise x e, e being standard normal with autocorrelation rho^lag, or independent Student t(3).
class Simulated {
  public:
    Simulated(std::uint64_t seed, Shape shape, double rho, double noise = 0.01)
        : engine_(seed), shape_(shape), rho_(rho), noise_(noise), state_(normal_(engine_)) {}

    double next() {
        if (shape_ == Shape::StudentT3) return 1.0 + noise_ * student_(engine_);
        state_ = rho_ * state_ + std::sqrt(1.0 - rho_ * rho_) * normal_(engine_);
        return 1.0 + noise_ * state_;
    }

    std::vector<double> take(std::size_t n) {
        std::vector<double> samples(n);
        for (double& x : samples) x = next();
        return samples;
    }

  private:
    std::mt19937_64 engine_;
    std::normal_distribution<double> normal_;
    std::student_t_distribution<double> student_{3.0};
    Shape shape_;
    double rho_;
    double noise_;
    double state_;
};

inline std::vector<double> normal_samples(std::uint64_t seed, std::size_t n, double rho = 0.0,
                                          double noise = 0.01) {
    return Simulated(seed, Shape::Normal, rho, noise).take(n);
}

}  // namespace assay::stats
