// What the sampler itself costs a sample beyond the subject's work: docs/results.md.
#include <cmath>
#include <functional>
#include <random>

#include <fmt/format.h>

#include "measure/sampler.h"

namespace assay::measure {
namespace {

// Spins for a time and reports another: so any series can be had at any pace.
class SpinningSubject final : public Subject {
  public:
    SpinningSubject(Clock& clock, double spin_s, std::function<double()> script)
        : clock_(clock), spin_s_(spin_s), script_(std::move(script)) {}

    std::string name() const override { return "spin"; }
    double resolution() const override { return 1e-9; }
    void run(std::span<double> seconds, int calls_per_sample) override {
        const double start = clock_.now();
        const double end = start + spin_s_ * static_cast<double>(seconds.size()) * calls_per_sample;
        for (double& sample : seconds) sample = script_();
        while (clock_.now() < end) {
        }
        inside_s += clock_.now() - start;
    }

    double inside_s = 0;

  private:
    Clock& clock_;
    double spin_s_;
    std::function<double()> script_;
};

std::function<double()> series(double rho, double drift) {
    return [=, random = std::mt19937_64(1), normal = std::normal_distribution<>(), deviation = 0.0,
            n = 0]() mutable {
        deviation = rho * deviation + std::sqrt(1 - rho * rho) * normal(random);
        return 1e-5 * (1 + 0.01 * deviation + drift * n++ / 12000);
    };
}

void print_cost(const char* what, double spin_s, double rho, double drift) {
    SteadyClock clock;
    Protocol protocol = sustained();
    protocol.settle = false;
    protocol.target_half_width = 0;  // all 12,000 samples, and every look
    protocol.limit_s = 60;
    SpinningSubject subject(clock, spin_s, series(rho, drift));
    const double start = clock.now();
    const auto sampling = Sampler(clock, nullptr, protocol).sample(subject);
    const double own_s = clock.now() - start - subject.inside_s;
    const auto n = static_cast<double>(sampling.seconds.size());
    fmt::print("{:<24} {:>6.0f} samples {:>8.1f} ns a sample\n", what, n, own_s / n * 1e9);
}

}  // namespace
}  // namespace assay::measure

int main() {
    using assay::measure::print_cost;
    print_cost("independent, 5 us", 5e-6, 0, 0);
    print_cost("independent, 200 us", 200e-6, 0, 0);
    print_cost("AR(1) 0.9, 5 us", 5e-6, 0.9, 0);
    print_cost("AR(1) 0.99, 5 us", 5e-6, 0.99, 0);
    print_cost("drift of 10 %, 5 us", 5e-6, 0, 0.1);
}
