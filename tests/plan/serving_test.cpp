#include "plan/serving.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "plan/planned_model.h"

namespace assay::plan {
namespace {

using model::Layout;

Prediction predicted(const std::string& model, std::string_view device, const Layout& layout,
                     const Load& load, const Network& network = {}) {
    const PlannedModel planned(model, load.input + load.output);
    return predict(planned.step(), layout, load, shipped_rates(device, network));
}

const Speculation kBlockDraft{.drafts = 7, .acceptance = 3.78};  // golden acceptance of Kimi K3

// sgl-project/sglang#37878: Kimi K3 in MXFP4 on 8 B300, 8192 tokens in and 1024 out.
TEST(Serving, KimiK3OnB300AsMeasuredByOthers) {
    const auto at = [](std::int64_t batch) {
        return predicted("kimi-k3", "b300", {.tensor = 8},
                         {.input = 8192, .output = 1024, .batch = batch});
    };
    const auto one = at(1);
    EXPECT_TRUE(one.tpot_s.holds(8.51e-3)) << one.tpot_s.value;
    EXPECT_TRUE(one.ttft_s.holds(0.378)) << one.ttft_s.value;
    EXPECT_NEAR(at(16).ttft_s.value / 3.539, 1, 0.3);
    EXPECT_NEAR(at(64).ttft_s.value / 11.635, 1, 0.3);
    EXPECT_NEAR(one.tpot_s.value / 8.51e-3, 1, 0.3);
    EXPECT_NEAR(one.ttft_s.value / 0.378, 1, 0.3);
    const auto sixteen = at(16);
    EXPECT_TRUE(sixteen.tpot_s.holds(19.47e-3)) << sixteen.tpot_s.value;
    EXPECT_NEAR(sixteen.tpot_s.value / 19.47e-3, 1, 0.3);
    EXPECT_NEAR(at(64).tpot_s.value / 40.19e-3, 1, 0.3);
}

// The report on Kimi K3 (2026): tokens/s and tokens/s of a user, 1024 tokens in and 400 out. The
// batch is what the two figures say together. Speculation on one node; over two stages none.
struct Reported {
    const char* device;
    Layout layout;
    std::int64_t batch;
    bool speculates;
    double tokens_per_s, per_user, per_hour;
};
const Reported kReported[] = {{"mi355x", {8, 1}, 8, true, 952, 118, 2.50},
                              {"b200", {8, 2}, 6, false, 498, 90, 4.25},
                              {"b300", {8, 1}, 9, true, 1568, 172, 6.00}};

Prediction of(const Reported& row) {
    Load load{.input = 1024, .output = 400, .batch = row.batch};
    if (row.speculates) load.speculation = kBlockDraft;
    Network network;
    if (row.layout.pipeline > 1) network.rail = rail_of(195.0 / 8);  // RoCE of a node
    return predicted("kimi-k3", row.device, row.layout, load, network);
}

TEST(Serving, KimiK3RanksAsReported) {
    std::vector<double> per_dollar, per_device;
    for (const auto& row : kReported) {
        const auto made = of(row);
        per_device.push_back(made.per_device().value);
        per_dollar.push_back(made.per_device().value / row.per_hour);
    }
    EXPECT_GT(per_dollar[0], per_dollar[2]);  // 48, 33, 7 tokens/s per $/h
    EXPECT_GT(per_dollar[2], per_dollar[1]);
    EXPECT_GT(per_device[0], 2 * per_device[1]);
    EXPECT_GT(per_device[2], 2 * per_device[1]);
    EXPECT_GT(of(kReported[2]).output_per_s.value, of(kReported[0]).output_per_s.value);
    EXPECT_GT(of(kReported[0]).output_per_s.value, of(kReported[1]).output_per_s.value);
}

TEST(Serving, KimiK3SpeedsLieNearTheReported) {
    for (const auto& row : kReported) {
        const auto made = of(row);
        // docs/planning.md tells why B300's is further off than 30 %.
        const double most = std::string(row.device) == "b300" ? 0.4 : 0.3;
        EXPECT_NEAR(made.output_per_s.value / row.tokens_per_s, 1, most) << row.device;
        EXPECT_NEAR(made.per_user().value / row.per_user, 1, most) << row.device;
    }
}

// 172,000 tokens: 23 s on 8 B300; on 8 MI355X 13,000 tokens/s, which are 13.2 s, once its kernel
// was mended, and 51 s before.
TEST(Serving, KimiK3LongPrefill) {
    const Load load{.input = 172'000, .output = 100};
    const auto b300 = predicted("kimi-k3", "b300", {.tensor = 8}, load);
    const auto mi355x = predicted("kimi-k3", "mi355x", {.tensor = 8}, load);
    EXPECT_TRUE(mi355x.ttft_s.holds(172'000 / 13'000.0)) << mi355x.ttft_s.value;
    EXPECT_TRUE(b300.ttft_s.holds(23)) << b300.ttft_s.high;
    EXPECT_LT(mi355x.ttft_s.high, 51);  // a fault, not a limit of the device
}

TEST(Serving, EndsAreOrderedAndFiguresAgree) {
    for (const char* model :
         {"llama3-8b", "deepseek-v3", "gpt-oss-120b", "qwen3.5-27b", "nemotron-3-nano-30b-a3b"}) {
        for (const std::int64_t batch : {1, 8, 64}) {
            const auto p = predicted(model, "h200", {.tensor = 8}, {2048, 256, batch});
            for (const auto& range : {p.ttft_s, p.tpot_s, p.prefill_per_s, p.output_per_s}) {
                EXPECT_GT(range.low, 0) << model;
                EXPECT_LE(range.low, range.value) << model;
                EXPECT_LE(range.value, range.high) << model;
            }
            EXPECT_NEAR(p.per_user().value, 1 / p.tpot_s.value, 1e-9);
            EXPECT_NEAR(p.total_per_s.value / p.output_per_s.value, 2304.0 / 256, 1e-9);
            EXPECT_LT(p.output_per_s.value, p.decode_per_s.value);  // prefills take their share
        }
    }
}

// However few requests there are, and over however many replicas and stages.
TEST(Serving, NoRequestGetsMoreThanItsUserReads) {
    for (const Layout& layout : {Layout{}, Layout{.tensor = 2, .data = 4}, Layout{.pipeline = 8},
                                 Layout{.tensor = 2, .pipeline = 2, .data = 2}}) {
        for (const std::int64_t batch : {1, 3, 8}) {
            const auto p = predicted("llama3-8b", "h100", layout, {1024, 256, batch});
            EXPECT_LT(p.output_per_s.value, static_cast<double>(batch) * p.per_user().value)
                << layout.text() << ", batch " << batch;
        }
    }
}

TEST(Serving, AFullHouseWaitsForPrefills) {
    const auto one = predicted("llama3-8b", "h100", {}, {8192, 256, 1});
    const auto many = predicted("llama3-8b", "h100", {}, {8192, 256, 33});
    EXPECT_DOUBLE_EQ(one.ttft_s.value, one.ttft_alone_s.value);
    EXPECT_DOUBLE_EQ(many.ttft_alone_s.value, one.ttft_s.value);
    EXPECT_NEAR(many.ttft_s.value, 17 * one.ttft_s.value, 1e-9);
}

TEST(Serving, MoreRequestsGiveMoreAndWaitLonger) {
    double tokens = 0, step = 0;
    for (const std::int64_t batch : {1, 2, 8, 32, 128}) {
        const auto p = predicted("llama3-70b", "h200", {.tensor = 8}, {1024, 256, batch});
        EXPECT_GT(p.output_per_s.value, tokens) << batch;
        EXPECT_GE(p.tpot_s.value, step) << batch;
        tokens = p.output_per_s.value;
        step = p.tpot_s.value;
    }
}

TEST(Serving, SpeculationGainsItsAcceptanceLessWhatCheckingCosts) {
    const Load plain{1024, 400, 1};
    Load speculating = plain;
    speculating.speculation = kBlockDraft;
    const auto without = predicted("kimi-k3", "mi355x", {.tensor = 8}, plain);
    const auto with = predicted("kimi-k3", "mi355x", {.tensor = 8}, speculating);
    const double gain = without.tpot_s.value / with.tpot_s.value;
    EXPECT_GT(gain, 1.5);
    EXPECT_LT(gain, 3.78);
    // More streams at once reach more experts anyway, and gain less: 2.2 at one, 1.7 at some.
    Load many = speculating, many_plain = plain;
    many.batch = many_plain.batch = 16;
    EXPECT_LT(predicted("kimi-k3", "mi355x", {.tensor = 8}, many_plain).tpot_s.value /
                  predicted("kimi-k3", "mi355x", {.tensor = 8}, many).tpot_s.value,
              gain);
}

TEST(Serving, ReadsSpeculation) {
    const auto read = parse_speculation("drafts=7,acceptance=3.78,draft=0.2");
    EXPECT_EQ(read.drafts, 7);
    EXPECT_DOUBLE_EQ(read.acceptance, 3.78);
    EXPECT_DOUBLE_EQ(read.draft_share, 0.2);
    for (const char* wrong :
         {"", "drafts=7", "acceptance=2", "drafts=0,acceptance=1", "drafts=3,acceptance=5",
          "drafts=3,acceptance=0.5", "drafts=3,acceptance=2,draft=-1", "drafts=3,acceptance=nan",
          "drafts=3,acceptance=2,speed=1", "drafts", "drafts=3=4,acceptance=2"}) {
        EXPECT_THROW(parse_speculation(wrong), UsageError) << wrong;
    }
}

}  // namespace
}  // namespace assay::plan
