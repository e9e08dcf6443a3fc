#include "probes/attention_sweep.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "probes/attention.h"
#include "probes/attention_cases.h"
#include "probes/attention_setup.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using work::AttentionPass;

TEST(AttentionSweep, ParsesASizeAndARange) {
    const auto sweep = parse_attention_sweep("dim=8..16+4");
    EXPECT_EQ(sweep.name(), "dim");
    EXPECT_THAT(sweep.sizes, ElementsAre(8, 12, 16));
    EXPECT_EQ(parse_attention_sweep("seq=1K,2K").name(), "seq");
    for (const auto* text :
         {"", "dim", "dim=", "heads=1,2", "dim=8", "dim=8,8", "seq=16,8", "seq=0,8", "dim=a,b"}) {
        EXPECT_THROW(parse_attention_sweep(text), UsageError) << text;
    }
}

TEST(AttentionSweep, PutsTheSizeInItsPlaces) {
    const auto dim = parse_attention_sweep("dim=4,6");
    auto attention = small_attention("causal+document:even:3");
    EXPECT_EQ(dim.at(attention, 6).problem.dim, 6);
    EXPECT_EQ(dim.at(attention, 6).problem.value_dim, 6);
    attention.problem.value_dim = 3;
    EXPECT_EQ(dim.at(attention, 6).problem.value_dim, 3);
    attention.mask_words = "causal+document:even:3";
    const auto longer = parse_attention_sweep("seq=12,15").at(attention, 15);
    EXPECT_EQ(longer.problem.queries, 15);
    EXPECT_EQ(longer.problem.keys, 15);
    EXPECT_THAT(longer.problem.mask.documents, ElementsAre(5, 5, 5));
}

// Values with a dim of their own keep it at every size, also once the case is read back.
TEST(AttentionSweep, TheCaseThatStandsForAllReadsBack) {
    const auto sweep = parse_attention_sweep("dim=4,6,8");
    auto attention = small_attention();
    for (const std::int64_t own : {3, 4, 6, 8}) {
        attention.problem.dim = attention.problem.value_dim = own;  // as --dim and --value-dim say
        const auto base = attention_from_case(to_case(sweep.base(attention, true)));
        for (const auto size : sweep.sizes) {
            EXPECT_EQ(sweep.at(base, size).problem.dim, size);
            EXPECT_EQ(sweep.at(base, size).problem.value_dim, own);
            const auto padded = pad(sweep, base, size, 9);
            EXPECT_EQ(padded.outer.problem.dim, 9);
            EXPECT_EQ(padded.outer.problem.value_dim, own);
            EXPECT_EQ(padded.inner.dim, size);
        }
        const auto follows = attention_from_case(to_case(sweep.base(attention, false)));
        EXPECT_EQ(sweep.at(follows, 6).problem.value_dim, 6);
        EXPECT_EQ(pad(sweep, follows, 6, 9).outer.problem.value_dim, 9);
        EXPECT_EQ(to_case(follows), to_case(sweep.base(small_attention(), false)));
    }
}

TEST(AttentionSweep, WhatTheSweepReplacesIsNoPartOfTheCase) {
    const AttentionProbe probe;
    const auto text = [&](const std::map<std::string, std::string>& options) {
        return probe.expand(options_of(probe, options), {}).at(0).text();
    };
    EXPECT_EQ(text({{"sweep", "dim=72,80"}}),
              "heads=12 seq=1024 dim=72 dtype=fp32 pass=forward sweep=\"dim=72,80\"");
    EXPECT_EQ(text({{"sweep", "dim=72,80"}, {"value-dim", "72"}}),
              "heads=12 seq=1024 dim=80 value_dim=72 dtype=fp32 pass=forward sweep=\"dim=72,80\"");
    EXPECT_EQ(text({{"sweep", "seq=16,24"}, {"mask", "document:even:2"}}),
              "heads=12 seq=16 dim=64 dtype=fp32 mask=document:even:2 pass=forward "
              "sweep=\"seq=16,24\"");
    EXPECT_THROW(text({{"sweep", "dim=72,80"}, {"dim", "64"}}), UsageError);
    EXPECT_THROW(text({{"sweep", "seq=16,24"}, {"seq", "16"}}), UsageError);
}

// The whole point: the same numbers, checked against the smaller problem.
TEST(AttentionSweep, PaddingGivesTheSameNumbers) {
    FakeBench bench;
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        for (const auto* text : {"dim=4,6", "seq=12,15"}) {
            const auto sweep = parse_attention_sweep(text);
            for (const auto* mask :
                 {"full", "causal", "causal+window:3", "window:3", "causal+prefix:4",
                  "causal+document:even:3", "document:even:3"}) {
                for (const auto layout : {work::AttentionLayout::bshd, work::AttentionLayout::bhsd,
                                          work::AttentionLayout::packed}) {
                    auto attention = small_attention(mask, pass);
                    attention.problem.batch = 2;
                    attention.layout = layout;
                    work::lay_out(attention.problem, layout);
                    const auto padded =
                        pad(sweep, attention, sweep.sizes.front(), sweep.sizes.back());
                    work::validate(padded.outer.problem);
                    AttentionSetup setup(padded.outer, bench.bench, &padded.inner);
                    record::Result result;
                    ASSERT_TRUE(setup.make_outputs({"oracle"}, result))
                        << text << " " << mask << " " << result.checks.back().detail;
                    const auto prepared =
                        bench.device.need<ops::Attention>().prepare(padded.outer.problem, pass);
                    const auto check = setup.answer(*prepared, "answer");
                    EXPECT_TRUE(check.passed) << text << " " << mask << " " << check.detail;
                }
            }
        }
    }
}

TEST(AttentionSweep, PaddingWithAnotherScaleWouldBeFound) {
    FakeBench bench;
    auto padded = pad(parse_attention_sweep("dim=4,6"), small_attention("causal"), 4, 6);
    padded.outer.problem.scale.reset();
    AttentionSetup setup(padded.outer, bench.bench, &padded.inner);
    const auto prepared =
        bench.device.need<ops::Attention>().prepare(padded.outer.problem, AttentionPass::forward);
    EXPECT_FALSE(setup.answer(*prepared, "answer").passed);
}

record::Result sweep(FakeBench& bench, const std::string& text,
                     const std::map<std::int64_t, double>& times, double padding = 1) {
    const auto parsed = parse_attention_sweep(text);
    bench.fake.script.attention_slowdown = [=](const work::Attention& p, AttentionPass) {
        const bool dim = parsed.size == AttentionSweep::Size::dim;
        return times.at(dim ? p.dim : p.queries) * (p.scale ? padding : 1);
    };
    record::Result result;
    result.what = to_case(small_attention("causal")).set("sweep", text);
    measure_sweep(small_attention("causal"), parsed, bench.bench, result);
    return result;
}

const record::Series& series(const record::Result& result, std::string_view name) {
    for (const auto& one : result.series) {
        if (one.name == name) return one;
    }
    throw std::logic_error("no such series");
}

TEST(AttentionSweep, NamesSizesThatPaddingMakesFaster) {
    FakeBench bench;
    const auto result = sweep(bench, "dim=4..8+1", {{4, 1}, {5, 3}, {6, 2}, {7, 4}, {8, 2.5}});
    EXPECT_EQ(series(result, "time").x, (std::vector<double>{4, 5, 6, 7, 8}));
    EXPECT_EQ(series(result, "padding gain").x, (std::vector<double>{5, 7}));
    EXPECT_EQ(series(result, "padding gain").unit_x, "dim");
    EXPECT_NEAR(series(result, "padding gain").y.at(0), 1.5, 1e-6);
    EXPECT_NEAR(series(result, "padding gain").y.at(1), 1.6, 1e-6);
    EXPECT_EQ(series(result, "pad to").y, (std::vector<double>{6, 8}));
    EXPECT_TRUE(find_check(result, "answer dim=5 padded to 6")->passed);
    const auto metrics = attention_sweep_metrics(result);
    EXPECT_EQ(find_metric(metrics, "cliffs")->value, 2);
    EXPECT_NEAR(find_metric(metrics, "largest padding gain")->value, 1.6, 1e-6);
    EXPECT_EQ(result.conditions.protocol, "interleaved");
}

TEST(AttentionSweep, PaddingThatCostsWhatItSavesIsNone) {
    FakeBench bench;
    const auto result = sweep(bench, "dim=4..6+1", {{4, 1}, {5, 3}, {6, 2}}, 1.5);
    EXPECT_TRUE(series(result, "padding gain").x.empty());
    EXPECT_EQ(result.launches.at(0).samples.count("dim=5 padded to 6"), 1U);
    EXPECT_EQ(find_metric(attention_sweep_metrics(result), "cliffs")->value, 0);
}

TEST(AttentionSweep, SweepsTheSequenceToo) {
    FakeBench bench;
    const auto result = sweep(bench, "seq=6..10+2", {{6, 1}, {8, 3}, {10, 2}});
    EXPECT_EQ(series(result, "padding gain").x, (std::vector<double>{8}));
}

TEST(AttentionSweep, SizesThatAreRefusedAreLeftOut) {
    FakeBench bench;
    bench.fake.script.providers[0].largest_dim = 5;
    const auto result = sweep(bench, "dim=4..6+1", {{4, 1}, {5, 2}, {6, 3}});
    EXPECT_EQ(series(result, "time").x, (std::vector<double>{4, 5}));
    EXPECT_THAT(result.conditions.settings.at("left out"), HasSubstr("dim=6"));
    bench.fake.script.providers[0].largest_dim = 3;
    EXPECT_THROW(sweep(bench, "dim=4..6+1", {{4, 1}, {5, 2}, {6, 3}}), Unsupported);
}

TEST(AttentionSweep, AllSizesFitWhereTheLargestFitsTwice) {
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        FakeBench bench;
        const auto attention = small_attention("causal", pass);
        const auto parsed = parse_attention_sweep("dim=4..12+1");
        int prepared = 0;
        bench.fake.script.providers[0].on_prepare = [&] { ++prepared; };
        bench.fake.script.attention_slowdown = [](const work::Attention& p, AttentionPass) {
            return static_cast<double>(p.dim);
        };
        bench.fake.script.memory_bytes =
            2 * RotatingAttention(bench.device, parsed.at(attention, 12), 7).footprint_bytes();
        record::Result result;
        result.what = to_case(attention).set("sweep", "dim=4..12+1");
        measure_sweep(attention, parsed, bench.bench, result);
        EXPECT_EQ(result.conditions.settings.count("left out"), 0U);
        EXPECT_EQ(series(result, "time").x.size(), 9U);
        for (const auto& check : result.checks) EXPECT_TRUE(check.passed) << check.detail;
        // A backward case needs what the forward pass gave.
        EXPECT_EQ(prepared, pass == AttentionPass::forward ? 9 : 18);
    }
}

// Cliffs are padded one after the other.
TEST(AttentionSweep, AnyNumberOfPaddedSizesNeedsRoomForOne) {
    FakeBench bench;
    const auto parsed = parse_attention_sweep("dim=4..12+1");
    bench.fake.script.memory_bytes =
        3 * RotatingAttention(bench.device, parsed.at(small_attention(), 12), 7).footprint_bytes();
    const auto result =
        sweep(bench, "dim=4..12+1",
              {{4, 2}, {5, 3}, {6, 4}, {7, 5}, {8, 6}, {9, 7}, {10, 8}, {11, 9}, {12, 1}});
    EXPECT_EQ(series(result, "padding gain").x.size(), 8U);
    EXPECT_EQ(result.conditions.settings.count("left out"), 0U);
}

TEST(AttentionSweep, AWrongAnswerAtOneSizeHasNoTimes) {
    FakeBench bench;
    bench.fake.script.wrong_by = 0.01;
    const auto result = sweep(bench, "dim=4..5+1", {{4, 1}, {5, 2}});
    EXPECT_FALSE(result.checks.back().passed);
    EXPECT_TRUE(result.launches.empty());
    EXPECT_TRUE(attention_sweep_metrics(result).empty());
}

}  // namespace
}  // namespace assay::probes
