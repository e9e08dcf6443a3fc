// A shipped model, ready to be timed.
#pragma once

#include <string>

#include "model/config.h"
#include "plan/devices.h"
#include "plan/serving.h"

namespace assay::plan {

class PlannedModel {
  public:
    explicit PlannedModel(const std::string& name, std::int64_t context = 8192)
        : model_(model::load_model(std::string(ASSAY_SOURCE_DIR) + "/data/models/" + name + ".json",
                                   {})),
          holdings_(model::holdings_of(model_, false, true)),
          use_(use_of(context)),
          step_(model_, holdings_, use_) {}

    const model::Model& model() const { return model_; }
    const model::Holdings& holdings() const { return holdings_; }
    const model::Use& use() const { return use_; }
    const StepModel& step() const { return step_; }

  private:
    static model::Use use_of(std::int64_t context) {
        model::Use use;
        use.context = context;
        return use;
    }

    model::Model model_;
    model::Holdings holdings_;
    model::Use use_;
    StepModel step_;
};

inline Rates shipped_rates(std::string_view device, const Network& network = {}) {
    static const auto kPublished =
        catalog::load_published(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/published.toml");
    return rates_of(target(device).device, kPublished, {}, network);
}

}  // namespace assay::plan
