#include "report/plan.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "base/text.h"
#include "support/made_transformer.h"

namespace assay::report {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

catalog::Accelerator device(double bytes) {
    catalog::Accelerator one;
    one.name = "Made 1";
    one.domain = 8;
    one.topology = "switched";
    one.memory = {{bytes, std::nullopt, "its maker, 2026", false}};
    return one;
}

plan::Plan plan_of(const model::Transformer& transformer, const model::Use& use,
                   const std::string& on, double bytes) {
    auto shape = transformer;
    shape.unknown = {"how its vision tower is made"};
    const auto holdings = model::holdings_of(shape, stored_bf16, false);
    return plan::make_plan({shape, holdings, use, {}, {}},
                           plan::parse_targets(on, {device(bytes)}));
}

model::Use serving() {
    model::Use use;
    use.context = 4096;
    return use;
}

plan::Plan both() {
    return plan_of(made_llama3_8b(), serving(), "1xmade,2xmade", 20e9);
}

TEST(PlanText, SaysWhatFitsAndWhyNot) {
    const auto text = plan_text(both());
    EXPECT_THAT(text, ContainsRegex("1xmade +1 +1 +no +one device +16.06 +20.00\n"));
    EXPECT_THAT(text, ContainsRegex("2xmade +2 +1 +yes +TP 2 +8.031 +20.00 +[0-9]+ +[0-9,]+\n"));
    EXPECT_THAT(text, HasSubstr("of-total:0.9 of 20.00 GB allows 18.00 GB"));
    EXPECT_THAT(text, AllOf(HasSubstr("llama3-8b"), HasSubstr("131072 B")));
    EXPECT_THAT(text, ContainsRegex("not in the config +how its vision tower is made"));
    EXPECT_THAT(text, HasSubstr("20.00 GB a device (its maker, 2026)"));
    EXPECT_THAT(text, ContainsRegex("attention heads +16 of 32 on a rank"));
    EXPECT_THAT(text, ContainsRegex("norms +[^ ]+ +[^ ]+ +replicated on each of 2"));
}

TEST(PlanText, ListsTheOtherLayoutsByTheirBatch) {
    const auto text = plan_text(plan_of(made_llama3_8b(), serving(), "8xmade", 80e9));
    const auto at = text.find("other layouts");
    ASSERT_NE(at, std::string::npos);
    EXPECT_LT(text.find("TP 4 x PP 2", at), text.find("DP 8", at));
}

TEST(PlanText, OfTrainingHasStatesAndNoCache) {
    auto use = serving();
    use.training = model::Training{};
    use.training->zero = 1;
    const auto text = plan_text(plan_of(made_llama3_8b(), use, "8xmade", 80e9));
    EXPECT_THAT(text, HasSubstr("training: megatron (16.00 B a parameter), ZeRO 1, recompute none, "
                                "micro-batch 1 x 4,096 tokens"));
    EXPECT_THAT(text, AllOf(HasSubstr("gradients"), HasSubstr("optimizer"),
                            Not(HasSubstr("cache: ")), Not(HasSubstr("tokens of cache"))));
}

TEST(PlanJson, HasEveryLayoutInBytes) {
    const auto json = plan_json(both());
    EXPECT_EQ(json["model"]["name"], "llama3-8b");
    EXPECT_DOUBLE_EQ(json["model"]["weight_bytes"].get<double>(), 2 * 8'030'261'248.0);
    EXPECT_DOUBLE_EQ(json["model"]["cache_bytes_per_token"].get<double>(), 131'072);
    EXPECT_EQ(json["use"]["purpose"], "inference");
    EXPECT_EQ(json["budget"], "of-total:0.9");
    ASSERT_EQ(json["answers"].size(), 2u);
    const auto& no = json["answers"][0];
    EXPECT_EQ(no["fits"], false);
    EXPECT_GT(no["fit"]["missing_bytes"].get<double>(), 0);
    EXPECT_NE(no["why"], "");
    const auto& yes = json["answers"][1];
    EXPECT_EQ(yes["fits"], true);
    EXPECT_EQ(yes["device_memory"][0]["source"], "its maker, 2026");
    EXPECT_EQ(yes["layouts"].size(), 3u);  // TP 2, PP 2, DP 2
    double sum = 0;
    for (const auto& [what, bytes] : yes["fit"]["bytes"].items()) {
        if (what != "total") sum += bytes.get<double>();
    }
    EXPECT_DOUBLE_EQ(sum, yes["fit"]["bytes"]["total"].get<double>());
}

TEST(PlanJson, IsNullWhereNothingGrows) {
    const auto json = plan_json(plan_of(made_dense({.window = 128}), serving(), "1xmade", 20e9));
    EXPECT_TRUE(json["answers"][0]["fit"]["largest_context"].is_null());
}

TEST(PlanCsv, HasARowALayout) {
    const auto lines = split(plan_csv(both(), {}), '\n');
    ASSERT_EQ(lines.size(), 6u);  // heading, 1 + 3 layouts, what follows the last end
    EXPECT_EQ(lines.back(), "");
    EXPECT_THAT(lines[0], testing::StartsWith("model,on,device,devices,nodes,tensor,pipeline,"));
    const auto columns = split(lines[0], ',').size();
    for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(split(lines[i], ',').size(), columns);
    EXPECT_THAT(lines[1], testing::StartsWith("llama3-8b,1xmade,Made 1,1,1,1,1,1,1,1,yes,no,"));
    EXPECT_THAT(lines[2], testing::StartsWith("llama3-8b,2xmade,Made 1,2,1,2,1,1,1,1,yes,yes,"));
}

TEST(PlanCsv, WithoutDevicesItHasTheModel) {
    const auto transformer = made_llama3_8b();
    const auto holdings = model::holdings_of(transformer, stored_bf16, false);
    const auto plan = plan::make_plan({transformer, holdings, serving(), {}, {}}, {});
    const auto lines = split(plan_csv(plan, {}), '\n');
    ASSERT_EQ(lines.size(), 3u);
    const auto names = split(lines[0], ','), cells = split(lines[1], ',');
    ASSERT_EQ(cells.size(), names.size());
    const auto cell = [&](const char* name) {
        return cells.at(static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()));
    };
    EXPECT_EQ(cell("model"), "llama3-8b");
    EXPECT_EQ(cell("on"), "");
    EXPECT_DOUBLE_EQ(std::stod(cell("weights")), 2 * 8'030'261'248.0);
    EXPECT_DOUBLE_EQ(std::stod(cell("cache")), 131'072.0 * 4096);
    EXPECT_DOUBLE_EQ(std::stod(cell("state")), 0);
}

}  // namespace
}  // namespace assay::report
