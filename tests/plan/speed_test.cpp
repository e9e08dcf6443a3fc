#include "plan/speed.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "plan/planned_model.h"

namespace assay::plan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Speeds : public testing::Test {
  protected:
    Speeds() : planned_("kimi-k3", 1424) {}

    Plan planned(std::string_view on) {
        targets_ = parse_targets(on, shipped());
        return make_plan(
            {planned_.model().shape, planned_.holdings(), planned_.use(), Budget{}, {}}, targets_);
    }
    SpeedQuestion question() const {
        SpeedQuestion question{.model = planned_.model()};
        question.load = {1024, 400, 1};
        return question;
    }

    PlannedModel planned_;
    std::vector<Target> targets_;
};

TEST_F(Speeds, OfWhatFits) {
    const auto plan = planned("8xmi355x,8xb200");
    const auto speed = make_speed_plan(plan, planned_.holdings(), question());
    ASSERT_EQ(speed.answers.size(), 2u);
    EXPECT_EQ(speed.answers[0].why, "");
    EXPECT_EQ(speed.answers[0].asked.front().layout, plan.answers[0].placement.best.layout);
    EXPECT_FALSE(speed.answers[0].front.empty());
    EXPECT_THAT(speed.answers[1].why, HasSubstr("doesn't fit"));
    EXPECT_THAT(speed.answers[1].asked, IsEmpty());
    EXPECT_EQ(speed.ranking.size(), 1u);
}

TEST_F(Speeds, PicksWithinTheLimits) {
    const auto plan = planned("8xmi355x,8xb300");
    auto asked = question();
    asked.slo = parse_slo("ttft=2s,tpot=20ms");
    const auto speed = make_speed_plan(plan, planned_.holdings(), asked);
    EXPECT_FALSE(speed.slo_fails());
    for (const auto& answer : speed.answers) {
        ASSERT_TRUE(answer.picked);
        EXPECT_LE(answer.picked->tpot_s.value, 0.020);
    }
    asked.slo = parse_slo("tpot=0.01ms");
    EXPECT_TRUE(make_speed_plan(plan, planned_.holdings(), asked).slo_fails());
}

TEST_F(Speeds, ComparesByPrice) {
    const auto plan = planned("8xmi355x,16xb200,8xb300");
    auto asked = question();
    asked.prices = parse_hour_prices("mi355x=2.50,b200=4.25,b300=6.00", targets_);
    const auto speed = make_speed_plan(plan, planned_.holdings(), asked);
    EXPECT_EQ(speed.yield, Yield::per_dollar);
    ASSERT_EQ(speed.ranking.size(), 3u);
    EXPECT_EQ(speed.ranking.front().answer, 0u);  // MI355X
    EXPECT_FALSE(speed.break_evens.empty());
}

TEST_F(Speeds, ReadsPrices) {
    planned("8xmi355x,b300");
    const auto prices = parse_hour_prices("mi355x=2.50,b300=6", targets_);
    EXPECT_DOUBLE_EQ(prices.at("mi355x"), 2.5);
    EXPECT_DOUBLE_EQ(prices.at("b300"), 6);
    EXPECT_DOUBLE_EQ(parse_hour_prices("MI355X=2.50", targets_).at("mi355x"), 2.5);
    for (const char* wrong :
         {"", "mi355x", "mi355x=0", "mi355x=-2", "h100=2", "mi355x=x", "b300=6,b300=7"}) {
        EXPECT_THROW(parse_hour_prices(wrong, targets_), UsageError) << wrong;
    }
}

}  // namespace
}  // namespace assay::plan
