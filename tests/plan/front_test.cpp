#include "plan/front.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "plan/placement.h"
#include "plan/planned_model.h"

namespace assay::plan {
namespace {

const Budget kBudget;
const Load kLoad{2048, 512, 1};

class Front : public testing::Test {
  protected:
    Front() : planned_("llama3-70b", kLoad.input + kLoad.output) {
        const auto where = target("8xh200");
        placement_ = place(
            {planned_.model().shape, planned_.holdings(), planned_.use(), kBudget, {}}, where);
        all_ = sweep(planned_.step(), placement_.layouts, kBudget, where.capacity().value, kLoad,
                     shipped_rates("h200"));
    }

    PlannedModel planned_;
    Placement placement_;
    std::vector<Prediction> all_;
};

TEST_F(Front, EveryBatchOfTheSweepFits) {
    ASSERT_GT(all_.size(), 20u);
    for (const auto& prediction : all_) {
        auto use = planned_.use();
        use.batch = prediction.load.batch;
        EXPECT_EQ(use.batch % prediction.layout.data, 0);
        EXPECT_TRUE(fit(planned_.holdings(), prediction.layout, use, kBudget,
                        target("h200").capacity().value)
                        .fits())
            << prediction.layout.text() << " batch " << use.batch;
    }
}

TEST_F(Front, NothingBeatsAMemberInBoth) {
    const auto front = pareto_front(all_);
    ASSERT_GT(front.size(), 3u);
    const auto beats = [](const Prediction& one, const Prediction& other) {
        return one.per_user().value > other.per_user().value &&
               one.per_device().value > other.per_device().value;
    };
    for (const auto& member : front) {
        for (const auto& other : all_) EXPECT_FALSE(beats(other, member));
    }
    // And whatever isn't a member is beaten, or equalled, by one.
    for (const auto& other : all_) {
        EXPECT_TRUE(std::ranges::any_of(front, [&](const Prediction& member) {
            return member.per_user().value >= other.per_user().value &&
                   member.per_device().value >= other.per_device().value;
        }));
    }
}

TEST_F(Front, TheBestWithinLimitsKeepsThemAndNoOtherGivesMore) {
    const Slo slo = parse_slo("ttft=2s,tpot=20ms");
    const auto* best = best_within(all_, slo);
    ASSERT_NE(best, nullptr);
    EXPECT_LE(best->tpot_s.value, 0.020);
    EXPECT_LE(best->ttft_s.value, 2);
    for (const auto& other : all_) {
        if (other.tpot_s.value <= 0.020 && other.ttft_s.value <= 2) {
            EXPECT_LE(other.per_device().value, best->per_device().value);
        }
    }
    EXPECT_EQ(best_within(all_, parse_slo("tpot=0.001ms")), nullptr);
    // A looser limit never gives less.
    EXPECT_GE(best_within(all_, parse_slo("tpot=50ms"))->per_device().value,
              best->per_device().value);
}

TEST(Slo, IsRead) {
    const auto slo = parse_slo("tpot=20ms,ttft=2s");
    EXPECT_DOUBLE_EQ(*slo.tpot_s, 0.020);
    EXPECT_DOUBLE_EQ(*slo.ttft_s, 2);
    EXPECT_FALSE(parse_slo("tpot=20ms").ttft_s);
    for (const char* wrong :
         {"", "tpot", "tpot=0", "tpot=-1s", "itl=3ms", "tpot=20ms,", "tpot=x", "tpot=1s,tpot=2s"}) {
        EXPECT_THROW(parse_slo(wrong), UsageError) << wrong;
    }
}

}  // namespace
}  // namespace assay::plan
