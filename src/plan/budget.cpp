#include "plan/budget.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"

namespace assay::plan {

namespace {
constexpr std::string_view kTotal = "of-total";
constexpr std::string_view kFree = "of-free";
}  // namespace

double Budget::room(double capacity, double fixed) const {
    const double free = capacity - fixed;
    if (meaning == Meaning::of_total) return capacity * fraction - fixed;
    return free > 0 ? free * fraction : free;
}

std::string Budget::text() const {
    return fmt::format("{}:{}", meaning == Meaning::of_total ? kTotal : kFree,
                       exact_number(fraction));
}

Budget parse_budget(std::string_view text) {
    Budget budget;
    auto number = text;
    if (const auto colon = text.find(':'); colon != text.npos) {
        const auto meaning = text.substr(0, colon);
        if (meaning != kTotal && meaning != kFree) {
            throw UsageError(fmt::format("unknown meaning of the budget \"{}\"", meaning),
                             "write --budget of-total:0.9 or of-free:0.9");
        }
        if (meaning == kFree) budget.meaning = Budget::Meaning::of_free;
        number = text.substr(colon + 1);
    }
    budget.fraction = parse_number(number, "--budget");
    if (!(budget.fraction > 0 && budget.fraction <= 1)) {
        throw UsageError(fmt::format("--budget {} is no fraction of a memory", text),
                         "give a number above 0, at most 1, as of-total:0.9");
    }
    return budget;
}

}  // namespace assay::plan
