// assay plan: how fast, within which limits, for what price.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "cli/assay.h"

namespace assay::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class ProgramPlanSpeed : public Assay {
  protected:
    Ended plan(const Words& words) { return run(Words{"plan", "llama3-8b"} + words); }
    Json speed(const Words& words) {
        const auto ended = plan(words + Words{"--format", "json"});
        EXPECT_EQ(ended.status, kExitFine) << ended.err;
        return parse_json(ended.out, "standard output")["plan"]["speed"];
    }
};

TEST_F(ProgramPlanSpeed, ServesWithinLimitsAndPrices) {
    const auto json = speed({"--on", "h200,mi300x", "--isl", "1024", "--osl", "256", "--slo",
                             "ttft=2s,tpot=20ms", "--price", "h200=1.74,mi300x=1.40"});
    EXPECT_EQ(json["yield_unit"], "output tokens/s per $/h");
    ASSERT_EQ(json["ranking"].size(), 2u);
    for (const auto& answer : json["answers"]) {
        EXPECT_LE(answer["within_limits"]["tpot_s"]["value"].get<double>(), 0.020);
        EXPECT_FALSE(answer["front"].empty());
        EXPECT_FALSE(answer["rates"].empty());
    }
    EXPECT_FALSE(json["break_even"].empty());
}

TEST_F(ProgramPlanSpeed, TrainsAndTellsTheFormulaOfMfu) {
    const auto json =
        speed({"--on", "8xh100", "--train", "--zero", "1", "--optimizer", "bf16-moments"});
    const auto& training = json["answers"][0]["training"];
    EXPECT_GT(training["mfu"]["value"].get<double>(), 0.1);
    EXPECT_LT(training["mfu"]["value"].get<double>(), 0.8);
    EXPECT_EQ(json["answers"][0]["flop_formula"], "semianalysis");
    EXPECT_THAT(plan({"--on", "8xh100", "--train", "--flop", "palm"}).out,
                ContainsRegex("MFU .*by palm's FLOP over 989.0 TFLOP/s of bf16"));
}

TEST_F(ProgramPlanSpeed, LimitsThatNothingKeepsEndWithThree) {
    const auto ended = plan({"--on", "h200", "--slo", "tpot=0.01ms"});
    EXPECT_EQ(ended.status, kExitLimit);
    EXPECT_THAT(ended.out, HasSubstr("no layout and batch keeps tpot=10.0 us"));
}

TEST_F(ProgramPlanSpeed, AStoreThatIsNamedMustBeThere) {
    const auto none = file("none.db");
    const auto ended = plan({"--on", "h200", "--store", none});
    EXPECT_EQ(ended.status, kExitUsage);
    EXPECT_THAT(ended.err, HasSubstr("no store at"));
    EXPECT_FALSE(std::filesystem::exists(none));
    const auto damaged = file("damaged.db", "this is no database at all, and never was one");
    EXPECT_NE(plan({"--on", "h200", "--store", damaged}).status, kExitFine);
}

TEST_F(ProgramPlanSpeed, RefusesWhatHasNoMeaning) {
    const std::pair<Words, const char*> cases[] = {
        {{"--isl", "8192", "--osl", "1024", "--context", "4096"}, "more than --context"},
        {{"--context", "1T"}, "--context 1T is out of range"},
        {{"--context", "much"}, "--context much is no count"},
        {{"--slo", "itl=2ms"}, "is no limit"},
        {{"--slo", "ttft=2s,ttft=1s"}, "twice"},
        {{"--price", "b200=2"}, "b200"},
        {{"--price", "h200=0"}, "above 0"},
        {{"--speculate", "drafts=3"}, "needs drafts and acceptance"},
        {{"--rail", "0"}, "out of range"},
        {{"--network-layers", "2.5"}, "2.5"},
        {{"--global-batch", "64"}, "is of training"},
        {{"--train", "--slo", "tpot=1ms"}, "is of inference"},
        {{"--train", "--checkpoint", "0s"}, "--checkpoint 0s is not above 0"},
        {{"--train", "--flop", "none"}, "none"},
    };
    for (const auto& [words, said] : cases) {
        const auto ended = plan(Words{"--on", "h200"} + words);
        EXPECT_EQ(ended.status, kExitUsage) << words.front() << " " << words.back();
        EXPECT_THAT(ended.err, HasSubstr(said));
        EXPECT_EQ(std::ranges::count(ended.err, '\n'), 2) << ended.err;
    }
    EXPECT_THAT(plan({"--slo", "tpot=1ms"}).err, HasSubstr("name them with --on"));
}

}  // namespace
}  // namespace assay::cli
