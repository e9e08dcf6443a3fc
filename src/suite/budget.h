// A time budget shared out by weight.
#pragma once

#include <cstddef>
#include <vector>

namespace assay::suite {

// Each case gets its weight's share of the time that is left, less what a case has cost so far
// besides its sampling; what one doesn't use goes to those after it.
class Budget {
  public:
    // `total_s` 0 means no budget: every case gets `limit_s`, which no case exceeds in any event.
    Budget(double total_s, double limit_s, std::vector<double> weights);

    // Seconds of sampling that case `index`, the next one, may take when `elapsed_s` have passed.
    double share(std::size_t index, double elapsed_s) const;
    // A case that was given `share_s` took `wall_s` in all and sampled for `sampled_s` of them.
    void spent(double wall_s, double sampled_s);

    // Never less than this: below it a case would measure nothing.
    static constexpr double kLeast = 0.2;

  private:
    double total_s_, limit_s_;
    std::vector<double> weights_;
    double overhead_s_ = 0;  // over all cases so far
    std::size_t cases_ = 0;
};

}  // namespace assay::suite
