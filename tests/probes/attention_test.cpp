#include "probes/attention.h"

#include <cmath>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch.h"
#include "probes/attention_problem.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::map<std::string, std::string>;

const AttentionProbe kProbe;

std::vector<std::string> texts(const Values& values) {
    std::vector<std::string> texts;
    for (const auto& what :
         kProbe.expand(options_of(kProbe, values), device::FakeDevice::fake_facts())) {
        texts.push_back(what.text());
    }
    return texts;
}

// The one case, as small as the fake device wants it.
record::Case small_case(Values values = {}) {
    values.insert({{"heads", "2"}, {"seq", "8"}, {"dim", "4"}, {"cache", "hot"}});
    return kProbe.expand(options_of(kProbe, values), device::FakeDevice::fake_facts()).at(0);
}

TEST(Attention, AMaskThatLeavesNoPairIsSkipped) {
    for (const auto* pass : {"forward", "backward"}) {
        for (const auto* provider : {"auto", "all"}) {
            FakeBench bench;
            const auto what =
                small_case({{"mask", "blocks:8:"}, {"pass", pass}, {"provider", provider}});
            EXPECT_THAT(message_of<Unsupported>([&] { bench.run(kProbe, what); }),
                        HasSubstr("the mask leaves no pair to compute"));
        }
    }
}

TEST(Attention, ExpandsItsLists) {
    EXPECT_THAT(texts({{"heads", "4"},
                       {"kv-heads", "2"},
                       {"seq", "1K,2K"},
                       {"dim", "64"},
                       {"mask", "full,causal+window:128"},
                       {"pass", "forward,backward"}}),
                ElementsAre("heads=4 kv_heads=2 seq=1024 dim=64 dtype=fp32 pass=forward",
                            "heads=4 kv_heads=2 seq=1024 dim=64 dtype=fp32 pass=backward",
                            "heads=4 kv_heads=2 seq=1024 dim=64 dtype=fp32 mask=causal+window:128 "
                            "pass=forward",
                            "heads=4 kv_heads=2 seq=1024 dim=64 dtype=fp32 mask=causal+window:128 "
                            "pass=backward",
                            "heads=4 kv_heads=2 seq=2048 dim=64 dtype=fp32 pass=forward",
                            "heads=4 kv_heads=2 seq=2048 dim=64 dtype=fp32 pass=backward",
                            "heads=4 kv_heads=2 seq=2048 dim=64 dtype=fp32 mask=causal+window:128 "
                            "pass=forward",
                            "heads=4 kv_heads=2 seq=2048 dim=64 dtype=fp32 mask=causal+window:128 "
                            "pass=backward"));
    EXPECT_THAT(texts({{"lengths", "5/0/9"}, {"mask", "causal"}}),
                ElementsAre("batch=3 heads=12 lengths=5/0/9 dim=64 dtype=fp32 mask=causal "
                            "pass=forward"));
}

TEST(Attention, AModelHasItsMaskUnlessAnotherIsGiven) {
    EXPECT_THAT(texts({{"model", "mistral-7b"}, {"seq", "8192"}, {"dtype", "bf16"}}),
                ElementsAre("heads=32 kv_heads=8 seq=8192 dim=128 dtype=bf16 "
                            "mask=causal+window:4096 pass=forward"));
    EXPECT_THAT(texts({{"model", "deepseek-v3"}, {"tp", "8"}, {"mask", "full"}}),
                ElementsAre("heads=16 seq=1024 dim=192 value_dim=128 dtype=fp32 pass=forward"));
}

TEST(Attention, RefusesWhatHasNoMeaning) {
    const Scratch scratch;
    const std::string documents = scratch / "documents.txt";
    write_file(documents, "100\n200\n");
    const struct {
        Values values;
        const char* what;
    } rows[]{
        {{{"heads", "12"}, {"kv-heads", "5"}}, "5 kv-heads don't divide 12 heads"},
        {{{"heads", "12"}, {"kv-heads", "24"}}, "12 heads (24 for keys)"},
        {{{"heads", "0"}}, "heads 0"},
        {{{"heads", "4000000000"}, {"dim", "4000000000"}}, "4000000000"},
        {{{"seq", "0"}}, "--seq 0"},
        {{{"mask", "window:0"}}, "sees no key"},
        {{{"mask", "causal+document:" + documents}}, "don't cover a sequence of 1024"},
        {{{"mask", "causl"}}, "causl"},
        {{{"modifier", "softcap:0"}}, "softcap:0"},
        {{{"pass", "sideways"}}, "sideways"},
        {{{"layout", "sbhd"}}, "sbhd"},
        {{{"dtype", "int8"}}, "int8"},
        {{{"model", "llama3-8b"}, {"heads", "4"}}, "--model and --heads"},
        {{{"tp", "2"}}, "--tp without --model"},
        {{{"model", "gpt2-1.5b"}, {"tp", "2"}}, "don't divide"},
        {{{"lengths", "5/9"}, {"seq", "9"}}, "--lengths and --seq"},
        {{{"lengths", "5/9"}, {"layout", "bhsd"}}, "bhsd"},
        {{{"lengths", "5/9"}, {"modifier", "bias"}}, "ragged lengths"},
        {{{"provider", "all"}, {"sweep", "dim=64..128+8"}}, "--provider all and --sweep"},
        {{{"provider", "all"}, {"against-dense", "yes"}}, "--provider all and --against-dense"},
        {{{"against-dense", "yes"}, {"sweep", "dim=64..128+8"}}, "--sweep and --against-dense"},
        {{{"provider", "all"}, {"against-cpu", "yes"}}, "--provider all and --against-cpu"},
        {{{"against-cpu", "yes"}, {"sweep", "dim=64..128+8"}}, "--sweep and --against-cpu"},
        {{{"provider", "cudnn"}, {"retune", "yes"}}, "--retune without"},
        {{{"retune", "maybe"}}, "neither yes nor no"},
        {{{"sweep", "heads=1..4+1"}}, "neither dim nor seq"},
        {{{"sweep", "seq=8..16+4"}, {"modifier", "bias"}}, "--sweep seq with a bias"},
        {{{"sweep", "seq=8..16+4"}, {"lengths", "4/8"}}, "--sweep seq with lengths"},
    };
    for (const auto& [values, what] : rows) {
        const auto message = message_of<UsageError>([&] { texts(values); });
        EXPECT_THAT(message, HasSubstr(what));
    }
}

TEST(Attention, MeasuresUsefulFlopAndWhatAMaskLeaves) {
    FakeBench bench;
    auto result = bench.run(kProbe, small_case({{"mask", "causal"}}));
    for (const auto* name : {"answer oracle", "answer under load", "answer after load"}) {
        ASSERT_NE(find_check(result, name), nullptr) << name;
        EXPECT_TRUE(find_check(result, name)->passed) << name;
    }
    EXPECT_EQ(result.conditions.settings.at("provider"), "oracle");
    const auto metrics = kProbe.metrics(result);
    const double flop = 2 * 2 * 36 * (4 + 4);  // 36 of 64 pairs
    EXPECT_NEAR(find_metric(metrics, "time")->value, 1e-3, 1e-9);
    EXPECT_NEAR(find_metric(metrics, "throughput")->value, flop / 1e-3 / 1e12, 1e-15);
    EXPECT_NEAR(find_metric(metrics, "dense-equivalent throughput")->value,
                flop * 64 / 36 / 1e-3 / 1e12, 1e-15);
    EXPECT_EQ(find_metric(metrics, "density")->value, 36.0 / 64);
    EXPECT_EQ(find_metric(metrics, "tile density")->value, 1);
    EXPECT_EQ(find_metric(metrics, "speed-up over dense"), nullptr);
    const auto& settings = result.conditions.settings;
    EXPECT_EQ(settings.at("FLOP"), "1152");
    EXPECT_EQ(settings.at("tiles"), "0 full, 1 partial, 0 empty");
    EXPECT_EQ(settings.at("tile FLOP"), "2048");
}

TEST(Attention, AFullMaskHasNoDensity) {
    FakeBench bench;
    const auto metrics = kProbe.metrics(bench.run(kProbe, small_case()));
    EXPECT_EQ(metrics.size(), 2U);
}

TEST(Attention, BackwardIsTimedAloneAfterACheckedForward) {
    FakeBench bench;
    bench.fake.script.attention_slowdown = [](const work::Attention&, work::AttentionPass pass) {
        return pass == work::AttentionPass::forward ? 1 : 3;
    };
    auto result = bench.run(kProbe, small_case({{"pass", "backward"}}));
    EXPECT_TRUE(find_check(result, "forward answer")->passed);
    EXPECT_TRUE(find_check(result, "answer oracle")->passed);
    const auto metrics = kProbe.metrics(result);
    EXPECT_NEAR(find_metric(metrics, "time")->value, 3e-3, 1e-9);
    EXPECT_NEAR(find_metric(metrics, "throughput")->value, 2 * 2 * 64 * 20 / 3e-3 / 1e12, 1e-15);
}

TEST(Attention, AWrongAnswerHasNoSpeed) {
    for (const auto* tensor : {"o", "d_k"}) {
        FakeBench bench;
        bench.fake.script.wrong_by = 1e-2;
        bench.fake.script.wrong_in = tensor;
        const auto result = bench.run(kProbe, small_case({{"pass", "backward"}}));
        EXPECT_TRUE(result.launches.empty());
        EXPECT_FALSE(result.checks.back().passed);
    }
}

TEST(Attention, WhatGoesWrongUnderLoadIsFound) {
    FakeBench bench;
    bench.fake.script.idle_from_call = 30;
    const auto result = bench.run(kProbe, small_case());
    EXPECT_TRUE(find_check(result, "answer oracle")->passed);
    EXPECT_FALSE(find_check(result, "answer after load")->passed);
}

TEST(Attention, IsSkippedForWhatTheDeviceCantDo) {
    const auto reason = [](FakeBench& bench, const Values& values) {
        return message_of<Unsupported>([&] { bench.run(kProbe, small_case(values)); });
    };
    FakeBench bench;
    EXPECT_THAT(reason(bench, {{"provider", "cudnn"}}), HasSubstr("no attention provider"));
    EXPECT_THAT(reason(bench, {{"seq", "1M"}, {"heads", "64"}, {"dim", "128"}}),
                HasSubstr("one set of tensors needs"));
    bench.fake.script.lacks_types = {work::Type::fp32};
    EXPECT_THAT(reason(bench, {}), HasSubstr("no provider takes it: oracle: the fake device"));
    bench.fake.script.lacks = {"attention"};
    EXPECT_THAT(reason(bench, {}), HasSubstr("has no attention"));
}

TEST(Attention, AllAndSweepsAreTheirOwnMethods) {
    EXPECT_FALSE(kProbe.has_own_method(small_case()));
    EXPECT_TRUE(kProbe.has_own_method(small_case({{"provider", "all"}})));
    const auto swept = options_of(kProbe, {{"sweep", "dim=4..8+4"}});
    EXPECT_TRUE(kProbe.has_own_method(kProbe.expand(swept, {}).at(0)));
}

}  // namespace
}  // namespace assay::probes
