#include "judge/verdict.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/scratch.h"
#include "judge/machines.h"
#include "judge/rule.h"

namespace assay::judge {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

Verdict verdict_of(const record::Run& run) {
    const auto evidence = gather(run);
    return conclude(evidence, find(evidence));
}

std::vector<std::string> quantities(const Verdict& verdict) {
    std::vector<std::string> names;
    for (const auto& delivered : verdict.delivered) names.push_back(delivered.quantity);
    return names;
}

const Delivered& delivered(const Verdict& verdict, const std::string& quantity) {
    for (const auto& one : verdict.delivered) {
        if (one.quantity == quantity) return one;
    }
    throw std::logic_error("nothing delivered: " + quantity);
}

TEST(Verdict, TakesTheBestCaseOfEachTypeAndKernel) {
    auto run = good_machine();
    auto faster = result_of(run, "gemm", "fp32");
    faster.metrics[0].value = 3.4;
    faster.what.set("m", 2048);
    run.results.push_back(faster);
    const auto verdict = verdict_of(run);
    EXPECT_THAT(quantities(verdict),
                ElementsAre("fp32 matrix product", "bf16 matrix product", "int8 matrix product",
                            "memory read", "memory copy", "memory triad"));
    EXPECT_EQ(delivered(verdict, "fp32 matrix product").value, 3.4);
    EXPECT_EQ(delivered(verdict, "fp32 matrix product").case_text,
              "boost m=2048 n=1024 k=1024 dtype=fp32");
}

TEST(Verdict, ComparesWithHighestClockAndWithTheClockSeen) {
    const auto verdict = verdict_of(good_machine());
    const auto& fp32 = delivered(verdict, "fp32 matrix product");
    EXPECT_THAT(fp32.promised, Optional(DoubleNear(32 * 32 * 3.8e9 / 1e12, 1e-9)));
    EXPECT_THAT(fp32.clock_allows, Optional(DoubleNear(32 * 32 * 3.6e9 / 1e12, 1e-9)));
    const auto& read = delivered(verdict, "memory read");
    EXPECT_THAT(read.promised, Optional(DoubleNear(460.8, 1e-9)));
    EXPECT_FALSE(read.clock_allows);
}

TEST(Verdict, MainMemoryIsTheLargestSizeAndNeverACache) {
    auto run = good_machine();
    EXPECT_EQ(delivered(verdict_of(run), "memory read").value, 385);  // not 2900 of 1M
    for (auto& result : run.results) {
        if (result.probe == "memory") result.conditions.footprint_bytes = 4096;
    }
    EXPECT_THAT(quantities(verdict_of(run)), testing::SizeIs(3));
}

TEST(Verdict, FailedCasesDeliverNothing) {
    auto run = good_machine();
    result_of(run, "gemm", "bf16").status = record::Status::failed;
    const auto verdict = verdict_of(run);
    EXPECT_THAT(quantities(verdict), testing::Not(testing::Contains("bf16 matrix product")));
}

TEST(Verdict, AttentionStandsBesideProductsAndWhatOthersPublished) {
    auto run = h200_machine();
    auto attention = result_of(run, "gemm", "bf16");
    attention.probe = "attention";
    attention.what = {};
    attention.what.set("batch", "1", "1").set("heads", 64).set("kv_heads", "8", "64");
    attention.what.set("seq", 8192).set("dim", 128).set("dtype", "bf16").set("mask", "causal");
    attention.what.set("pass", "forward");
    attention.metrics[0].value = 650;
    run.results.push_back(attention);
    const auto verdict = verdict_of(run);
    const auto& one = delivered(verdict, "bf16 attention forward");
    EXPECT_EQ(one.value, 650);
    EXPECT_EQ(one.promised, delivered(verdict, "bf16 matrix product").promised);
    ASSERT_EQ(one.published.size(), 1U);
    EXPECT_EQ(one.published[0].value, 644);
    EXPECT_THAT(verdict.headline, testing::Not(HasSubstr("650"))) << "products and memory only";
}

TEST(Verdict, TellsBoostFromSustained) {
    const auto verdict = verdict_of(h200_machine());
    std::vector<std::string> lines;
    for (const auto& one : verdict.delivered) lines.push_back(one.protocol + " " + one.quantity);
    EXPECT_THAT(
        lines, ElementsAre("boost bf16 matrix product", "sustained bf16 matrix product",
                           "boost fp8_e4m3fn matrix product", "sustained fp8_e4m3fn matrix product",
                           "boost memory read", "boost memory copy"));
    EXPECT_EQ(verdict.delivered[1].value, 684);
    EXPECT_THAT(verdict.delivered[1].case_text, HasSubstr("sustained m=8192"));
}

TEST(Verdict, OfAnAcceleratorTakesTheDatasheetAndTheClockSeen) {
    const auto verdict = verdict_of(h200_machine());
    const auto& sustained = verdict.delivered[1];
    EXPECT_THAT(sustained.promised, Optional(989.0));
    EXPECT_THAT(sustained.promise_basis, HasSubstr("at 1830 MHz (InferenceX-app"));
    EXPECT_THAT(sustained.clock_allows, Optional(DoubleNear(132 * 4096 * 1495e6 / 1e12, 1e-9)));
    const auto& read = delivered(verdict, "memory read");
    EXPECT_THAT(read.promised, Optional(4800.0));
    EXPECT_THAT(read.clock_allows, Optional(DoubleNear(4916.7, 0.1)));
}

// Whatever else a run measured, a transfer is no product.
TEST(Verdict, TransfersAreDeliveredToo) {
    auto run = h200_machine();
    auto to_device = result_of(run, "memory", "read");
    to_device.what = record::Case().set("op", "host_to_device").set("size", "256M");
    to_device.metrics[0].value = 55.3;
    auto slower = to_device;
    slower.what.set("host_memory", "pageable", "pinned");
    slower.metrics[0].value = 11;
    auto within = to_device;
    within.what = record::Case().set("op", "device_to_device").set("size", "256M");
    within.metrics[0].value = 4100;
    const auto headline = verdict_of(run).headline;
    run.results.insert(run.results.begin(), {slower, to_device, within});
    const auto verdict = verdict_of(run);
    EXPECT_EQ(delivered(verdict, "transfer host_to_device").value, 55.3);
    EXPECT_FALSE(delivered(verdict, "transfer host_to_device").promised.has_value());
    EXPECT_THAT(delivered(verdict, "transfer host_to_device").promise_basis, HasSubstr("link"));
    EXPECT_THAT(delivered(verdict, "transfer device_to_device").promised, Optional(4800.0));
    EXPECT_EQ(verdict.headline, headline);
}

std::vector<std::string> published(const Delivered& one) {
    std::vector<std::string> values;
    for (const auto& row : one.published) values.push_back(row.value_text());
    return values;
}

TEST(Verdict, PutsPublishedFiguresBesideTheSameWork) {
    auto run = h200_machine();
    auto verdict = verdict_of(run);
    EXPECT_THAT(published(verdict.delivered[0]), ElementsAre("720", "806", "670"));
    EXPECT_THAT(published(delivered(verdict, "memory copy")), ElementsAre("4010"));
    for (auto& result : run.results) {
        if (result.probe == "gemm") result.what.set("n", 8191);
    }
    EXPECT_THAT(published(verdict_of(run).delivered[0]), IsEmpty());
    run = h200_machine();
    run.provenance.devices[0].facts["mig"] = "enabled";
    EXPECT_THAT(published(verdict_of(run).delivered[0]), IsEmpty());
}

TEST(Verdict, BearsABrokenFileOfPublishedFigures) {
    Scratch scratch;
    write_file(scratch / "published.toml", "row = 3\n");
    ASSERT_EQ(::setenv("ASSAY_DATA_DIR", scratch.path().c_str(), 1), 0);
    const auto verdict = verdict_of(h200_machine());
    ::unsetenv("ASSAY_DATA_DIR");
    EXPECT_THAT(verdict.published_problem, HasSubstr("published.toml:1:1: "));
    EXPECT_EQ(verdict.delivered[0].value, 800);
}

TEST(Verdict, InputsThatCostLittlePowerDeliverNothing) {
    auto run = h200_machine();
    auto zeros = result_of(run, "gemm", "bf16");
    zeros.what.set("inputs", "zeros");
    zeros.metrics[0].value = 900;
    run.results.push_back(zeros);
    EXPECT_EQ(verdict_of(run).delivered[0].value, 800);
}

TEST(Headline, SaysWhatIsDeliveredOfWhatIsAllowed) {
    EXPECT_EQ(verdict_of(good_machine()).headline,
              "cpu delivers 3.20 TFLOP/s fp32 (87 % of what its clock allows), 385 GB/s read "
              "(84 % of its promise); 0 errors, 0 warnings");
}

TEST(Headline, CountsErrorsAndWarningsButNotNotes) {
    auto run = good_machine();
    result_of(run, "gemm", "int8").path = record::Path::emulated;
    result_of(run, "gemm", "bf16").conditions.throttle_reasons = {"heat"};
    result_of(run, "selftest", "timer").checks[0].passed = false;
    EXPECT_THAT(verdict_of(run).headline, HasSubstr("; 1 error, 1 warning"));
}

TEST(Headline, WithoutAClockTakesThePromiseAndWithoutThatSaysUnknown) {
    auto run = good_machine();
    result_of(run, "gemm", "fp32").conditions.clock_mhz.reset();
    EXPECT_THAT(verdict_of(run).headline, HasSubstr("fp32 (82 % of its promise)"));
    run.provenance.devices[0].facts["model"] = "250";
    EXPECT_THAT(verdict_of(run).headline, HasSubstr("fp32 (promise unknown), 385 GB/s read "
                                                    "(promise unknown)"));
    EXPECT_THAT(delivered(verdict_of(run), "memory read").promise_basis,
                HasSubstr("family 25 model 250"));
}

TEST(Headline, SaysWhenNothingWasDelivered) {
    auto run = good_machine();
    run.results.clear();
    EXPECT_EQ(verdict_of(run).headline, "cpu: nothing was delivered; 1 error, 0 warnings");
    EXPECT_THAT(verdict_of(run).delivered, IsEmpty());
    run.provenance.devices.clear();
    EXPECT_EQ(verdict_of(run).headline, "no device was opened; 1 error, 0 warnings");
}

TEST(Headline, HasAPartForEachDevice) {
    auto run = good_machine();
    auto second = run.provenance.devices[0];
    second.id = "cuda:0";
    second.kind = "cuda";
    run.provenance.devices.push_back(second);
    auto product = result_of(run, "gemm", "bf16");
    product.device = "cuda:0";
    product.metrics[0].value = 612;
    run.results.push_back(product);
    EXPECT_THAT(verdict_of(run).headline,
                HasSubstr("; cuda:0 delivers 612 TFLOP/s bf16 (promise unknown); "));
}

TEST(Headline, OfAnAcceleratorIsBf16UnderEachProtocol) {
    auto run = h200_machine();
    std::ranges::rotate(run.results, run.results.begin() + 2);  // fp8 first
    EXPECT_THAT(verdict_of(run).headline,
                HasSubstr("cuda:0 delivers 800 TFLOP/s bf16 boost (84 % of what its clock allows), "
                          "684 sustained (85 % of what its clock allows), 4640 GB/s read"));
}

}  // namespace
}  // namespace assay::judge
