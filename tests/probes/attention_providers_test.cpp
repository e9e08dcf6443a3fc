#include "probes/attention_providers.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/scratch.h"
#include "probes/attention.h"
#include "probes/attention_cases.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

using testing::HasSubstr;

const AttentionProbe kProbe;

class AttentionProviders : public testing::Test {
  public:
    AttentionProviders() {
        const std::string folder = scratch_ / "cache";
        ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
        bench.fake.script.providers = {{.name = "own", .slowdown = 1.0},
                                       {.name = "best", .slowdown = 0.8},
                                       {.name = "slow", .slowdown = 2.0},
                                       {.name = "narrow", .unsupported = true}};
    }
    ~AttentionProviders() override { ::unsetenv("XDG_CACHE_HOME"); }

    record::Result run(const std::string& provider = "auto", bool anew = false,
                       work::AttentionPass pass = work::AttentionPass::forward) {
        auto attention = small_attention("causal", pass);
        attention.provider = provider;
        auto what = to_case(attention);
        if (anew) what.set("retune", "yes", "yes");
        auto result = bench.run(kProbe, what);
        result.metrics = kProbe.metrics(result);
        return result;
    }
    static std::string setting(const record::Result& result, const std::string& name) {
        const auto found = result.conditions.settings.find(name);
        return found == result.conditions.settings.end() ? "" : found->second;
    }
    static double value(const record::Result& result, const char* name) {
        const auto* metric = result.metric(name);
        EXPECT_NE(metric, nullptr) << name;
        return metric == nullptr ? -1 : metric->value;
    }

    FakeBench bench;

  private:
    Scratch scratch_;
};

TEST_F(AttentionProviders, AutoMeasuresTheFastestAndSaysByHowMuch) {
    const auto result = run();
    EXPECT_EQ(setting(result, "provider"), "best");
    EXPECT_EQ(setting(result, "cache"), "miss");
    EXPECT_THAT(setting(result, "left out"), HasSubstr("narrow: narrow can't do"));
    EXPECT_EQ(result.conditions.algorithm, "best");
    EXPECT_NEAR(value(result, "time"), 0.8e-3, 1e-9);
    EXPECT_NEAR(value(result, "time ratio of own"), 1.25, 1e-9);
    EXPECT_NEAR(value(result, "time ratio of slow"), 2.5, 1e-9);
    EXPECT_EQ(value(result, "time ratio of best"), 1);
    EXPECT_TRUE(find_check(result, "answer slow")->passed);
}

TEST_F(AttentionProviders, TheFastestIsKnownTheNextTimeUnlessAskedAnew) {
    run();
    bench.fake.script.providers[2].slowdown = 0.1;
    const auto known = run();
    EXPECT_EQ(setting(known, "provider"), "best");
    EXPECT_EQ(setting(known, "cache"), "hit");
    EXPECT_EQ(known.metric("time ratio of own"), nullptr) << "not measured this time";
    EXPECT_EQ(setting(run("auto", true), "provider"), "slow");
}

TEST_F(AttentionProviders, WhatFewRoundsFoundIsNotKept) {
    bench.fake.script.seconds = [](std::size_t, double) { return 1.0; };
    EXPECT_EQ(setting(run(), "provider"), "best");
    EXPECT_EQ(setting(run(), "cache"), "miss");
}

TEST_F(AttentionProviders, AWrongOneCantWinAndIsNamed) {
    bench.fake.script.providers[1].wrong_by = 0.01;
    const auto result = run();
    EXPECT_EQ(setting(result, "provider"), "own");
    EXPECT_THAT(setting(result, "wrong algorithms"), HasSubstr("best: o of entry"));
    EXPECT_EQ(find_check(result, "answer best"), nullptr) << "the case itself is right";
}

TEST_F(AttentionProviders, WhereAllAreWrongTheCaseIs) {
    bench.fake.script.wrong_by = 0.01;
    const auto result = run();
    EXPECT_TRUE(result.launches.empty());
    EXPECT_FALSE(find_check(result, "answer own")->passed);
    EXPECT_FALSE(find_check(result, "answer slow")->passed);
}

TEST_F(AttentionProviders, ANamedOneIsMeasuredWhateverItsSpeed) {
    const auto result = run("slow");
    EXPECT_EQ(setting(result, "provider"), "slow");
    EXPECT_NEAR(value(result, "time"), 2e-3, 1e-9);
    EXPECT_THROW(run("narrow"), Unsupported);
    EXPECT_THROW(run("unknown"), Unsupported);
}

TEST_F(AttentionProviders, ABackwardPassTakesItsForwardFromTheSameProvider) {
    const auto result = run("slow", false, work::AttentionPass::backward);
    EXPECT_EQ(setting(result, "forward by"), "fake slow");
    EXPECT_TRUE(find_check(result, "forward answer")->passed);
}

TEST_F(AttentionProviders, AllAreComparedInterleaved) {
    const auto result = run("all");
    EXPECT_EQ(result.conditions.protocol, "interleaved");
    EXPECT_NEAR(value(result, "time ratio of slow"), 2.5, 1e-9);
    const double flop = work::flop(small_attention("causal").problem, work::AttentionPass::forward);
    EXPECT_NEAR(value(result, "throughput of own"), flop / 1e-3 / 1e12, 1e-12);
    EXPECT_EQ(result.metrics.size(), 6U);
    EXPECT_THAT(setting(result, "left out"), HasSubstr("narrow"));
    for (const auto* name : {"own", "best", "slow"}) {
        const auto* after = find_check(result, std::string("answer after load ") + name);
        ASSERT_NE(after, nullptr) << name;
        EXPECT_TRUE(after->passed) << name;
    }
    ASSERT_EQ(result.launches.size(), 1U);
    EXPECT_GE(result.launches[0].samples.at("provider own").values.size(), 6U);
}

}  // namespace
}  // namespace assay::probes
