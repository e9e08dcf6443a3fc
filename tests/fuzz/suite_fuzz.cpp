// Any bytes as a suite file: either a plan that can be run, or one UsageError that names the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "suite/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto plan = assay::suite::parse_suite(text, "suite.toml");
        if (plan.suite.empty() || plan.steps.empty() || plan.launches < 1) std::abort();
        if (!(plan.budget.cpu_s >= 0) || !(plan.budget.accelerator_s >= 0)) std::abort();
        for (const auto& step : plan.steps) {
            if (!(step.weight > 0)) std::abort();
        }
    } catch (const assay::UsageError& e) {
        if (!std::string_view(e.what()).starts_with("suite.toml:")) std::abort();
    }
    return 0;
}
