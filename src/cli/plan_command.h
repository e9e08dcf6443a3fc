#pragma once

#include <cstdint>
#include <string>

#include "cli/command.h"
#include "cli/speed_options.h"
#include "plan/placement.h"

namespace assay::cli {

class PlanCommand : public Command {
  public:
    CLI::App* declare(CLI::App& app) override;
    int run() override;

  private:
    model::Training training() const;
    model::Use use(std::int64_t positions) const;
    plan::Widths widths() const;

    CLI::Option* on_option_ = nullptr;
    std::string model_, on_, accelerators_;
    std::string context_, batch_, budget_ = "of-total:0.9";
    std::string kv_dtype_, state_dtype_, weights_, workspace_;
    std::string tensor_, pipeline_, expert_, data_, context_parallel_;
    bool pad_ = false, predictors_ = false, text_only_ = false, assume_ = false, train_ = false;
    std::string zero_, optimizer_, recompute_;
    SpeedOptions speed_;
    std::string format_ = "table", output_ = "-";
};

}  // namespace assay::cli
