#include "probes/gemm_parity.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "probes/fake_bench.h"
#include "probes/gemm.h"

namespace assay::probes {
namespace {

const GemmProbe kProbe;

class GemmParityTest : public testing::Test {
  public:
    GemmParityTest() {
        bench.fake.script.entries = {{.name = "lt"}, {.name = "ex", .slowdown = 1.1}};
    }

    record::Result run(std::map<std::string, std::string> options = {}) {
        options.insert({{"shapes", "3x5x7"}, {"parity", "entries"}});
        const auto cases = kProbe.expand(options_of(kProbe, options), {});
        auto result = bench.run(kProbe, cases.at(0));
        result.metrics = kProbe.metrics(result);
        return result;
    }

    static double value(const record::Result& result, const std::string& name) {
        const auto* metric = result.metric(name);
        EXPECT_NE(metric, nullptr) << name;
        return metric == nullptr ? -1 : metric->value;
    }

    FakeBench bench;
};

TEST_F(GemmParityTest, EveryEntryIsTimedWithAndWithoutBiasAgainstTheBest) {
    const auto result = run();
    EXPECT_EQ(result.what.text(), "m=3 n=5 k=7 dtype=fp32 parity=entries");
    EXPECT_TRUE(kProbe.has_own_method(result.what));
    ASSERT_EQ(result.launches.size(), 1U);
    EXPECT_EQ(result.launches[0].samples.size(), 4U);
    for (const auto* path : {"lt", "lt with bias", "ex", "ex with bias"}) {
        const bool slow = std::string(path).starts_with("ex");
        EXPECT_NEAR(value(result, std::string("time ratio of ") + path), slow ? 1.1 : 1, 1e-9);
        EXPECT_NEAR(value(result, std::string("throughput of ") + path),
                    210e-12 / (slow ? 1.1e-3 : 1e-3), 1e-12);
        EXPECT_GE(result.launches[0].samples.at(path).values.size(), 40U);
        EXPECT_TRUE(find_check(result, std::string("answer ") + path)->passed);
        EXPECT_TRUE(result.conditions.settings.contains(std::string("path ") + path));
    }
    EXPECT_GT(result.metric("time ratio of ex")->interval->first, 1.09);
    EXPECT_EQ(result.conditions.protocol, "interleaved");
}

TEST_F(GemmParityTest, BiasIsGivenToThosePathsAloneThatAddIt) {
    struct Seen final : public ops::Matmul {
        explicit Seen(device::FakeDevice& device) : fake(device) {}
        std::unique_ptr<ops::PreparedMatmul> prepare(const work::Matmul& problem,
                                                     const ops::MatmulChoice&) override {
            struct Prepared final : public ops::PreparedMatmul {
                std::unique_ptr<ops::PreparedMatmul> plain;
                bool bias = false;
                const ops::Implementation& implementation() const override {
                    return plain->implementation();
                }
                void enqueue(device::Stream& stream, const ops::MatmulOperands& set) override {
                    EXPECT_EQ(set.bias != nullptr, bias);
                    plain->enqueue(stream, set);
                }
            };
            auto prepared = std::make_unique<Prepared>();
            prepared->plain = fake.need<ops::Matmul>().prepare(problem);
            prepared->bias = work::has_bias(problem.epilogue);
            return prepared;
        }
        device::FakeDevice& fake;
    } seen(bench.fake);
    bench.device.patches["matmul"] = &seen;
    const auto result = run({{"epilogue", "gelu"}});
    EXPECT_EQ(result.launches.at(0).samples.size(), 2U) << "one entry";
    EXPECT_NE(result.metric("throughput of default with bias"), nullptr);
}

TEST_F(GemmParityTest, WhatTheDeviceCannotDoIsLeftOutAndNamed) {
    bench.fake.script.entries[1].unsupported = true;
    const auto result = run();
    EXPECT_EQ(result.launches.at(0).samples.size(), 2U);
    EXPECT_EQ(result.conditions.settings.at("left out"),
              "ex: ex can't do this product; ex with bias: ex can't do this product");
    bench.fake.script.entries[0].unsupported = true;
    EXPECT_NE(message_of<Unsupported>([&] { run(); }).find("no path"), std::string::npos);
}

TEST_F(GemmParityTest, AWrongPathHasNoTimes) {
    bench.fake.script.entries[1].wrong_by = 1e-3;
    const auto result = run();
    EXPECT_TRUE(find_check(result, "answer lt")->passed);
    EXPECT_FALSE(find_check(result, "answer ex")->passed);
    EXPECT_TRUE(result.launches.empty());
    EXPECT_TRUE(result.metrics.empty());
}

TEST_F(GemmParityTest, LayoutsAreComparedWhereAsked) {
    const auto result = run({{"parity", "layouts"}});
    EXPECT_EQ(result.what.text(), "m=3 n=5 k=7 dtype=fp32 parity=layouts");
    EXPECT_EQ(result.launches.at(0).samples.size(), 4U);
    for (const auto* path : {"layout nn", "layout nt", "layout tn", "layout tt"}) {
        EXPECT_NEAR(value(result, std::string("time ratio of ") + path), 1, 1e-9);
        EXPECT_TRUE(find_check(result, std::string("answer ") + path)->passed) << path;
    }
}

TEST_F(GemmParityTest, EachLayoutAskedForIsACaseOfItsOwn) {
    const auto cases = kProbe.expand(
        options_of(kProbe, {{"shapes", "3x5x7"}, {"parity", "entries"}, {"layout", "nn,tt"}}), {});
    ASSERT_EQ(cases.size(), 2U);
    EXPECT_EQ(cases[1].text(), "m=3 n=5 k=7 dtype=fp32 layout=tt parity=entries");
}

TEST_F(GemmParityTest, LaunchesPoolTheirRounds) {
    auto result = run();
    const auto rounds = result.metric("time ratio of ex")->n;
    result.launches.push_back(result.launches[0]);
    EXPECT_EQ(find_metric(kProbe.metrics(result), "time ratio of ex")->n, 2 * rounds);
    result.launches[1].samples.erase("ex");
    EXPECT_EQ(find_metric(kProbe.metrics(result), "time ratio of ex"), nullptr);
    EXPECT_NE(find_metric(kProbe.metrics(result), "time ratio of lt"), nullptr);
}

TEST_F(GemmParityTest, RefusesWhatHasNoMeaning) {
    const std::map<std::string, std::string> rows[]{
        {{"parity", "paths"}},
        {{"parity", "entries"}, {"epilogue", "bias"}},
        {{"parity", "layouts"}, {"layout", "nt"}},
        {{"parity", "entries"}, {"as", "best-of"}},
        {{"parity", "entries"}, {"sweep", "n=8..16+8"}},
        {{"parity", "entries"}, {"algorithm", "tuned"}},
    };
    for (const auto& row : rows) {
        EXPECT_THROW(kProbe.expand(options_of(kProbe, row), {}), UsageError);
    }
}

}  // namespace
}  // namespace assay::probes
