#include "probes/attention_cpu.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "probes/attention.h"
#include "probes/attention_cases.h"
#include "probes/hosted_bench.h"

namespace assay::probes {
namespace {

using testing::HasSubstr;
using testing::Not;
using work::AttentionPass;

constexpr const char* kSpeedUp = "speed-up over this host's CPU";
const AttentionProbe kProbe;

record::Result run(HostedBench& bench, AttentionPass pass = AttentionPass::forward) {
    auto what = to_case(small_attention("causal", pass));
    what.set("against_cpu", "yes", "yes");
    return bench.run(kProbe, what);
}

constexpr double kFillTime = 1e-6;

// So many seconds for a pair of query and key.
void set_seconds_a_pair(device::FakeDevice& device, double seconds) {
    device.script.seconds = [](std::size_t, double) { return kFillTime; };
    device.script.attention_slowdown = [seconds](const work::Attention& p, AttentionPass) {
        return seconds / kFillTime * work::all_pairs(p) * static_cast<double>(p.heads);
    };
}

// What the accelerator was measured by itself stays, and nothing is compared.
void expect_left_out(const record::Result& result, const char* why) {
    EXPECT_THAT(result.conditions.settings.at("against cpu"), HasSubstr(why));
    EXPECT_EQ(result.metric(kSpeedUp), nullptr);
    EXPECT_NE(result.metric("throughput"), nullptr);
    EXPECT_TRUE(std::ranges::all_of(result.checks, &record::Check::passed));
}

TEST(AttentionCpu, IsMeasuredBesideTheAccelerator) {
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        HostedBench bench;
        bench.cpu.script.seconds = [](std::size_t, double) { return 4e-3; };
        const auto result = run(bench, pass);
        EXPECT_EQ(bench.opened, 1);
        EXPECT_TRUE(find_check(result, "answer cpu")->passed);
        const auto& samples = result.launches.back().samples;
        EXPECT_EQ(samples.at("cpu").values.size(), samples.at("accelerator").values.size());
        const auto* speed_up = result.metric(kSpeedUp);
        ASSERT_NE(speed_up, nullptr);
        EXPECT_NEAR(speed_up->value, 4, 1e-6);
        EXPECT_LE(speed_up->interval->first, speed_up->value);
        EXPECT_NE(speed_up->trustworthy, false);
        EXPECT_NEAR(result.metric("throughput of this host's CPU")->value,
                    result.metric("throughput")->value / 4, 1e-15);
        EXPECT_EQ(result.conditions.settings.at("cpu"), "a fake host's CPU");
        EXPECT_EQ(result.conditions.settings.at("cpu by"), "plain");
        EXPECT_EQ(result.conditions.algorithm, "oracle") << "the case's own";
        EXPECT_FALSE(result.conditions.settings.contains("against cpu"));
    }
}

TEST(AttentionCpu, IsAskedForOnly) {
    HostedBench bench;
    const auto result = bench.run(kProbe, to_case(small_attention("causal")));
    EXPECT_EQ(bench.opened, 0);
    EXPECT_EQ(result.metric(kSpeedUp), nullptr);
}

TEST(AttentionCpu, ThatTakesTooLongIsLeftOutUnseen) {
    HostedBench bench;
    set_seconds_a_pair(bench.cpu, 2.0 / (12 * 12 * 4));  // of 3 s in all
    const double before = bench.cpu.now();
    expect_left_out(run(bench), "is expected to take 2");
    // Four calls of a trial, which is the problem itself, small as that is.
    EXPECT_LT(bench.cpu.now() - before, 8.1);
}

TEST(AttentionCpu, ALongCallIsForeseenByAShortOne) {
    auto attention = small_attention();
    attention.problem.queries = 4096;  // eight times a trial's
    attention.problem.heads = attention.problem.kv_heads = 1;
    attention.problem.dim = attention.problem.value_dim = 1;
    work::lay_out(attention.problem, attention.layout);
    auto what = to_case(attention);
    what.set("against_cpu", "yes", "yes");
    HostedBench bench;
    set_seconds_a_pair(bench.cpu, 2.0 / work::all_pairs(attention.problem));
    const double before = bench.cpu.now();
    expect_left_out(bench.run(kProbe, what), "is expected to take 2");
    EXPECT_LT(bench.cpu.now() - before, 2);
}

// The forward pass before a backward one, on every set that a cold cache takes.
TEST(AttentionCpu, TheForwardPassOnEverySetCounts) {
    auto attention = small_attention("causal", AttentionPass::backward);
    attention.cache = CacheState::cold;
    auto what = to_case(attention);
    what.set("against_cpu", "yes", "yes");
    HostedBench bench;
    bench.cpu.script.attention_slowdown = [](const work::Attention&, AttentionPass pass) {
        return pass == AttentionPass::forward ? 20 : 1;  // ms
    };
    const double before = bench.cpu.now();
    expect_left_out(bench.run(kProbe, what), "sets of tensors is expected to take");
    EXPECT_LT(bench.cpu.now() - before, 1);
    bench.cpu.script.attention_slowdown = {};  // 1 ms of each
    EXPECT_NE(bench.run(kProbe, what).metric(kSpeedUp), nullptr);
}

TEST(AttentionCpu, ASlowOneEndsWithItsTime) {
    HostedBench bench;
    set_seconds_a_pair(bench.cpu, 0.6 / (12 * 12 * 4));
    bench.bench.protocol.limit_s = 4;
    const double before = bench.cpu.now();
    const auto result = run(bench);
    // Four calls of a trial, the check, a call to see, two that tell how many make a sample, one to
    // warm up, and the one round that is taken at least.
    EXPECT_LT(bench.cpu.now() - before, 10.1 * 0.6);
    ASSERT_NE(result.metric(kSpeedUp), nullptr);
    EXPECT_EQ(result.metric(kSpeedUp)->trustworthy, false) << "too few rounds";
}

TEST(AttentionCpu, WhatItCantDoIsSaid) {
    HostedBench types;
    types.cpu.script.lacks_types = {work::Type::fp32};
    expect_left_out(run(types), "has no fp32");
    HostedBench lacks;
    lacks.cpu.script.lacks = {"attention"};
    expect_left_out(run(lacks), "device cpu has no attention");
    HostedBench memory;
    memory.cpu.script.memory_bytes = 100;
    expect_left_out(run(memory), "one set of tensors needs");
    HostedBench missing;
    missing.bench.open_host_cpu = []() -> std::unique_ptr<device::Device> {
        throw UsageError("no module cpu");
    };
    expect_left_out(run(missing), "no module cpu");
    HostedBench itself;
    itself.bench.open_host_cpu = {};
    expect_left_out(run(itself), "this host's CPU");
}

TEST(AttentionCpu, AWrongAnswerThereIsNoComparison) {
    for (const auto* tensor : {"o", "d_k"}) {
        HostedBench bench;
        bench.cpu.script.wrong_by = 1e-2;
        bench.cpu.script.wrong_in = tensor;
        const auto result = run(bench, AttentionPass::backward);
        EXPECT_FALSE(result.checks.back().passed);
        EXPECT_THAT(result.checks.back().name, HasSubstr("cpu"));
        EXPECT_EQ(result.metric(kSpeedUp), nullptr);
    }
}

TEST(AttentionCpu, HasNothingToCompareWithItself) {
    const auto options = options_of(kProbe, {{"against-cpu", "yes"}});
    EXPECT_THAT(message_of<UsageError>([&] { kProbe.expand(options, HostedBench::cpu_facts()); }),
                HasSubstr("nothing to compare"));
    const auto cases = kProbe.expand(options, device::FakeDevice::fake_facts());
    ASSERT_EQ(cases.size(), 1U);
    EXPECT_TRUE(cases[0].has("against_cpu"));
    EXPECT_THAT(cases[0].text(), Not(HasSubstr("against_cpu"))) << "the same attention";
}

}  // namespace
}  // namespace assay::probes
