// Rules that look at attention alone.
#include <algorithm>
#include <utility>

#include <gmock/gmock.h>

#include "judge/findings.h"
#include "judge/machines.h"

namespace assay::judge {
namespace {

using record::Finding;
using record::Severity;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// An attention of the good machine, which a pass and seconds are given.
record::Result attention(const record::Run& run, const char* pass, double seconds, double tflop) {
    auto result = *std::ranges::find(run.results, "gemm", &record::Result::probe);
    result.probe = "attention";
    result.what = {};
    result.what.set("heads", 12).set("seq", 1024).set("dim", 64).set("dtype", "fp32");
    result.what.set("pass", pass);
    auto rate = result.metrics[0];
    rate.value = tflop / seconds;
    rate.interval.reset();
    auto time = rate;
    time.name = "time";
    time.unit = "s";
    time.value = seconds;
    time.interval = {seconds, seconds};
    time.trustworthy = true;
    result.metrics = {rate, time};
    return result;
}

TEST(BackwardSlow, IsOneThatTakesMoreThanItsFlopTell) {
    auto run = good_machine();
    run.results.push_back(attention(run, "forward", 1e-3, 1e-3));
    run.results.push_back(attention(run, "backward", 3.7e-3, 2.5e-3));
    EXPECT_THAT(findings_in(run), IsEmpty());
    run.results.push_back(attention(run, "backward", 3.8e-3, 2.5e-3));
    expect_only(run, "backward-slow", Severity::warning,
                "takes 3.80 times as long as its forward pass, for 2.50 times the FLOP");
    auto& time = run.results.back().metrics[1];
    time.interval = {3.6e-3, 4e-3};
    EXPECT_THAT(findings_in(run), IsEmpty()) << "not surely";
    time.interval = {3.8e-3, 3.8e-3};
    run.results.back().what.set("mask", "causal");
    EXPECT_THAT(findings_in(run), IsEmpty()) << "another case's forward pass";
    run.results.back().what.set("mask", "causal", "causal");
    run.results.back().conditions.protocol = "sustained";
    EXPECT_THAT(findings_in(run), IsEmpty()) << "another protocol's";
}

TEST(BackwardSlow, NeedsIntervalsThatAreTrusted) {
    const auto backward_slow = Contains(testing::Field(&Finding::rule, "backward-slow"));
    for (const auto* pass : {"forward", "backward"}) {
        auto run = good_machine();
        run.results.push_back(attention(run, "forward", 1e-3, 1e-3));
        run.results.push_back(attention(run, "backward", 8e-3, 2.5e-3));
        EXPECT_THAT(findings_in(run), backward_slow);
        auto& time = (run.results.end() - (pass[0] == 'f' ? 2 : 1))->metrics[1];
        time.trustworthy = false;  // as of one sample, whose interval has no width
        EXPECT_THAT(findings_in(run), Not(backward_slow)) << pass;
        time.trustworthy.reset();
        EXPECT_THAT(findings_in(run), backward_slow) << pass;
        time.interval.reset();
        EXPECT_THAT(findings_in(run), Not(backward_slow)) << pass;
    }
}

TEST(SlowerThanCpu, IsAnAcceleratorSurelyBehindItsHost) {
    auto run = good_machine();
    auto slow = attention(run, "forward", 1e-3, 1e-3);
    slow.device = "cuda:0";
    slow.metrics.push_back({"speed-up over this host's CPU", "ratio", record::Better::higher, "",
                            0.5, std::pair{0.4, 0.6}, 20, std::nullopt, std::nullopt, true});
    run.results.push_back(slow);
    expect_only(run, "slower-than-cpu", Severity::warning, "0.500 times the speed of this host");
    EXPECT_THAT(findings_in(run).at(0).advice, HasSubstr("launching it"));
    auto& speed_up = run.results.back().metrics.back();
    speed_up.interval = {0.4, 1.1};
    EXPECT_THAT(findings_in(run), IsEmpty()) << "not surely";
    speed_up.interval.reset();
    EXPECT_THAT(findings_in(run), IsEmpty()) << "nothing told";
    speed_up.value = 50;
    speed_up.interval = {40, 60};
    EXPECT_THAT(findings_in(run), IsEmpty()) << "faster";
}

}  // namespace
}  // namespace assay::judge
