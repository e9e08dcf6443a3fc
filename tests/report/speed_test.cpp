#include "report/speed.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "report/plan.h"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

plan::Range range(double value) {
    return {value, value / 2, value * 2};
}

plan::Prediction prediction(std::int64_t batch) {
    plan::Prediction made;
    made.devices = 8;
    made.layout.tensor = 8;
    made.load = {1024, 256, batch};
    made.ttft_s = made.ttft_alone_s = range(0.1);
    made.tpot_s = range(0.010);
    made.prefill_per_s = made.decode_per_s = made.output_per_s = range(800);
    made.total_per_s = range(4000);
    made.prefill.products = made.decode.attention = 1;
    return made;
}

plan::Plan plan_of_one() {
    plan::Plan plan;
    plan.model.name = "made";
    plan::Answer answer;
    answer.target.text = "8xmade";
    answer.target.device.name = "Made";
    answer.target.device.memory.push_back({.value = 1e11, .mhz = {}, .source = "its maker"});
    answer.placement.devices = 8;
    answer.placement.nodes = 1;
    answer.placement.best.layout.tensor = 8;
    answer.placement.layouts.push_back(answer.placement.best);
    plan.answers.push_back(answer);
    return plan;
}

plan::SpeedPlan speed_of_one() {
    plan::SpeedPlan speed;
    speed.load = {1024, 256, 4};
    plan::SpeedAnswer answer;
    answer.types = {"bf16", "fp8"};
    answer.rates.memory = {4e12, 3e12, 5e12, "measured here"};
    answer.asked = answer.all = answer.front = {prediction(4)};
    answer.picked = prediction(4);
    answer.per_hour = 2.0;
    speed.answers.push_back(answer);
    speed.ranking.push_back({0, prediction(4), 50});
    speed.break_evens.push_back({"TPOT limit", 0.02, "s", "one", "other"});
    return speed;
}

TEST(SpeedText, SaysEveryFigureWithItsEnds) {
    const auto text = speed_text(plan_of_one(), speed_of_one());
    EXPECT_THAT(text, HasSubstr("10.0 ms (5.00 ms to 20.0 ms)"));
    EXPECT_THAT(text, HasSubstr("800 (400 to 1600)"));
    EXPECT_THAT(text, HasSubstr("50.0"));  // tokens/s per $/h: 800 / (8 x 2)
    EXPECT_THAT(text, HasSubstr("TPOT limit 20.0 ms: below it one, above it other"));
    EXPECT_THAT(text, HasSubstr("measured here"));
    EXPECT_THAT(text, HasSubstr("a model by latency and bandwidth"));
}

TEST(SpeedText, SaysWhyNothingIsPredicted) {
    auto speed = speed_of_one();
    speed.answers.front() = {};
    speed.answers.front().why = "it doesn't fit";
    speed.ranking.clear();
    const auto text = speed_text(plan_of_one(), speed);
    EXPECT_THAT(text, HasSubstr("nothing is predicted: it doesn't fit"));
    EXPECT_THAT(text, Not(HasSubstr("TTFT")));
    EXPECT_EQ(speed_text(plan_of_one(), {}), "");
}

TEST(SpeedText, CallsASmallLeadNone) {
    auto speed = speed_of_one();
    speed.ranking.push_back({0, prediction(4), 49});
    EXPECT_THAT(speed_text(plan_of_one(), speed), HasSubstr("no winner"));
    speed.ranking.back().yield = 40;
    EXPECT_THAT(speed_text(plan_of_one(), speed), Not(HasSubstr("no winner")));
}

TEST(SpeedJson, HasEveryFigureWithItsEnds) {
    const auto json = speed_json(speed_of_one());
    const auto& asked = json["answers"][0]["asked"][0];
    EXPECT_EQ(asked["tpot_s"]["value"], 0.010);
    EXPECT_EQ(asked["tpot_s"]["low"], 0.005);
    EXPECT_EQ(asked["tpot_s"]["high"], 0.020);
    EXPECT_EQ(json["answers"][0]["within_limits"]["batch"], 4);
    EXPECT_EQ(json["break_even"][0]["winner_above"], "other");
    EXPECT_TRUE(json["limits"]["ttft_s"].is_null());
    EXPECT_EQ(json["yield_unit"], "output tokens/s per device");
}

TEST(PlanCsv, StandsBesideTheLayoutThatItIsOf) {
    const auto speed = speed_of_one();
    const auto lines = split(plan_csv(plan_of_one(), speed), '\n');
    ASSERT_EQ(lines.size(), 3u);
    const auto header = split(lines[0], ','), row = split(lines[1], ',');
    ASSERT_EQ(header.size(), row.size());
    const auto cell = [&](const std::string& name) {
        const auto at = std::ranges::find(header, name);
        return at == header.end() ? "no such column"
                                  : row[static_cast<std::size_t>(at - header.begin())];
    };
    EXPECT_EQ(cell("batch"), "4");
    EXPECT_EQ(cell("price_per_device_hour"), "2");
    EXPECT_EQ(cell("tpot_s_low"), "0.005");
    EXPECT_EQ(cell("output_tokens_per_s"), "800");
    EXPECT_EQ(cell("step_s"), "");
}

}  // namespace
}  // namespace assay::report
