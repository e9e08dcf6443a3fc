#include "probes/gemm.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "probes/fake_bench.h"
#include "probes/hooked_memory.h"
#include "work/matmul.h"
#include "work/shapes.h"

namespace assay::probes {
namespace {

const GemmProbe kProbe;

using Values = std::map<std::string, std::string>;

std::vector<record::Case> expand(const Values& values) {
    return kProbe.expand(options_of(kProbe, values), device::FakeDevice::fake_facts());
}

record::Case only_case(const Values& values) {
    const auto cases = expand(values);
    EXPECT_EQ(cases.size(), 1U);
    return cases.at(0);
}

TEST(Gemm, ExpandsEveryListInOrder) {
    struct Row {
        Values options;
        std::vector<std::string> cases;
    };
    const Row rows[]{
        {{{"shapes", "3x5x7"}}, {"m=3 n=5 k=7 dtype=fp32"}},
        {{{"shapes", "3x5x7,1x1x1"}, {"dtype", "bf16,int8"}},
         {"m=3 n=5 k=7 dtype=bf16", "m=1 n=1 k=1 dtype=bf16", "m=3 n=5 k=7 dtype=int8",
          "m=1 n=1 k=1 dtype=int8"}},
        {{{"shapes", "1x1x1"}, {"layout", "nn,nt,tn,tt"}},
         {"m=1 n=1 k=1 dtype=fp32", "m=1 n=1 k=1 dtype=fp32 layout=nt",
          "m=1 n=1 k=1 dtype=fp32 layout=tn", "m=1 n=1 k=1 dtype=fp32 layout=tt"}},
        {{{"shapes", "1x1x1"}, {"epilogue", "none,bias,gelu,bias+gelu"}},
         {"m=1 n=1 k=1 dtype=fp32", "m=1 n=1 k=1 dtype=fp32 epilogue=bias",
          "m=1 n=1 k=1 dtype=fp32 epilogue=gelu", "m=1 n=1 k=1 dtype=fp32 epilogue=bias+gelu"}},
        {{{"shapes", "1x1x1"}, {"batch", "1,4"}, {"inputs", "zeros,normal"}},
         {"m=1 n=1 k=1 dtype=fp32 inputs=zeros", "m=1 n=1 k=1 dtype=fp32",
          "m=1 n=1 k=1 dtype=fp32 batch=4 inputs=zeros", "m=1 n=1 k=1 dtype=fp32 batch=4"}},
        {{{"shapes", "1x1x1"}, {"dtype", "bf16"}, {"output-type", "fp32"}, {"cache", "hot"}},
         {"m=1 n=1 k=1 dtype=bf16 output=fp32 cache=hot"}},
        {{{"shapes", "1x1x1"}, {"accumulate", "fp64"}}, {"m=1 n=1 k=1 dtype=fp32 accumulate=fp64"}},
        {{{"shapes", "1x1x1"}, {"dtype", "fp8_e5m2"}}, {"m=1 n=1 k=1 dtype=fp8_e5m2"}},
        {{{"shapes", "1x1x1"}, {"dtype", "fp8_e5m2"}, {"layout", "nn,nt"}},
         {"m=1 n=1 k=1 dtype=fp8_e5m2 layout=nn", "m=1 n=1 k=1 dtype=fp8_e5m2"}},
        {{{"shapes", "1x1x1"}, {"dtype", "fp8_e5m2,fp8_e4m3fn"}, {"dtype-b", "fp8_e4m3fn"}},
         {"m=1 n=1 k=1 dtype=fp8_e5m2 dtype_b=fp8_e4m3fn", "m=1 n=1 k=1 dtype=fp8_e4m3fn"}},
        {{{"shapes", "1x1x1"}, {"dtype", "fp8_e4m3fn"}, {"accumulation", "exact,fast"}},
         {"m=1 n=1 k=1 dtype=fp8_e4m3fn", "m=1 n=1 k=1 dtype=fp8_e4m3fn accumulation=fast"}},
        {{{"shapes", "1x1x1"}, {"scales", "0.5,2"}},
         {"m=1 n=1 k=1 dtype=fp32 scale_a=0.5 scale_b=2"}},
        {{{"shapes", "1x1x1,2x2x2"}, {"algorithm", "heuristic,tuned"}, {"retune", "yes"}},
         {"m=1 n=1 k=1 dtype=fp32", "m=1 n=1 k=1 dtype=fp32 algorithm=tuned",
          "m=2 n=2 k=2 dtype=fp32", "m=2 n=2 k=2 dtype=fp32 algorithm=tuned"}},
        {{{"shapes", "1x1x1"}, {"algorithm", "heuristic,tuned"}, {"algorithms", "200"}},
         {"m=1 n=1 k=1 dtype=fp32", "m=1 n=1 k=1 dtype=fp32 algorithm=tuned algorithms=200"}},
        {{{"shapes", "1x1x1"}, {"algorithm", "tuned"}, {"algorithms", "32"}},
         {"m=1 n=1 k=1 dtype=fp32 algorithm=tuned"}},
        {{{"shapes", "8x8x8"}, {"sweep", "n=8..16+4"}},
         {"m=8 n=8 k=8 dtype=fp32 sweep=\"n=8..16+4\""}},
        {{{"shapes", "8x8x8"}, {"as", "best-of,do_bench"}},
         {"m=8 n=8 k=8 dtype=fp32 as=best-of,do_bench"}},
    };
    for (const auto& row : rows) {
        std::vector<std::string> texts;
        for (const auto& what : expand(row.options)) texts.push_back(what.text());
        EXPECT_EQ(texts, row.cases);
    }
}

TEST(Gemm, SplitsTheLayersOfAModelOverTensorParallelDevices) {
    const auto cases = expand({{"shapes", "llama3-8b"}, {"tp", "2"}, {"tokens", "512"}});
    const auto shapes = work::parse_shapes("llama3-8b", 512, 2);
    ASSERT_EQ(cases.size(), shapes.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ(cases[i].integer("m"), 512);
        EXPECT_EQ(cases[i].integer("n"), shapes[i].n);
        EXPECT_EQ(cases[i].integer("k"), shapes[i].k);
        EXPECT_EQ(cases[i].at("layer"), shapes[i].layer);
    }
    EXPECT_NE(cases, expand({{"shapes", "llama3-8b"}, {"tokens", "512"}}));
}

TEST(Gemm, RefusesOptionsWithoutAMeaning) {
    const Values rows[]{
        {{"shapes", "3x5"}},
        {{"shapes", "3x5x0"}},
        {{"shapes", "3x5x-7"}},
        {{"shapes", "3x5x2147483648"}},
        {{"shapes", "2147483647x2147483647x1"}},
        {{"shapes", "llama9"}},
        {{"shapes", ""}},
        {{"dtype", "fp12"}},
        {{"dtype", "fp32,"}},
        {{"accumulate", "fp12"}},
        {{"output-type", "fp12"}},
        {{"layout", "nx"}},
        {{"dtype-b", "fp12"}},
        {{"accumulation", "slow"}},
        {{"accumulation", "fast"}},
        {{"dtype", "fp8_e4m3fn,bf16"}, {"accumulation", "fast"}},
        {{"scales", "1"}},
        {{"scales", "1,2,3"}},
        {{"scales", "1,x"}},
        {{"scales", "0,1"}},
        {{"scales", "1,1e300"}},
        {{"dtype", "int8"}, {"scales", "2,1"}},
        {{"epilogue", "relu"}},
        {{"batch", "0"}},
        {{"batch", "two"}},
        {{"inputs", "gaussian"}},
        {{"cache", "warm"}},
        {{"shapes", "llama3-8b"}, {"tp", "0"}},
        {{"shapes", "llama3-8b"}, {"tp", "3"}},
        {{"shapes", "8x8x8"}, {"tp", "2"}},
        {{"shapes", "llama3-8b"}, {"tokens", "0"}},
        {{"sweep", "x=1..2+1"}},
        {{"shapes", "2147483647x1x1"}, {"sweep", "n=1..2147483647+2147483646"}},
        {{"as", "stopwatch"}},
        {{"algorithm", "best"}},
        {{"retune", "yes"}},
        {{"algorithm", "tuned"}, {"retune", "maybe"}},
        {{"retune-time", "yes"}},
        {{"algorithms", "200"}},
        {{"algorithm", "tuned"}, {"algorithms", "-1"}},
        {{"algorithm", "tuned"}, {"algorithms", "many"}},
        {{"algorithm", "tuned"}, {"as", "best-of"}},
        {{"algorithm", "heuristic,tuned"}, {"sweep", "n=8..16+8"}},
        {{"sweep", "n=8..16+8"}, {"as", "best-of"}},
    };
    for (const auto& row : rows) {
        std::string text;
        for (const auto& [name, value] : row) text += " --" + name + " " + value;
        EXPECT_THROW(expand(row), UsageError) << text;
    }
    EXPECT_NE(message_of<UsageError>([] {
                  expand({{"sweep", "n=8..16+8"}, {"as", "best-of"}});
              }).find("--sweep and --as"),
              std::string::npos);
}

TEST(Gemm, MeasuresAProduct) {
    FakeBench bench;
    auto result = bench.run(kProbe, only_case({{"shapes", "3x5x7"}, {"epilogue", "bias"}}));
    EXPECT_EQ(result.path, record::Path::portable);
    const auto& conditions = result.conditions;
    EXPECT_EQ(conditions.library, "fake");
    EXPECT_EQ(conditions.algorithm, "plain loops");
    EXPECT_EQ(conditions.protocol, "boost");
    EXPECT_EQ(conditions.stop_reason, "precise");
    EXPECT_EQ(conditions.operand_sets, 2048);  // 4 x 256 bytes each over 2 MiB
    EXPECT_EQ(conditions.footprint_bytes, 2U << 20);
    EXPECT_FALSE(conditions.settings.contains("cold"));

    ASSERT_EQ(result.checks.size(), 3U);
    EXPECT_TRUE(result.checks[0].passed) << result.checks[0].detail;
    EXPECT_EQ(result.checks[1].name, "answer under load");
    EXPECT_EQ(result.checks[2].name, "answer after load");
    EXPECT_TRUE(result.checks[1].passed) << result.checks[1].detail;

    ASSERT_EQ(result.launches.size(), 1U);
    const auto& time = result.launches[0].samples.at("time");
    EXPECT_EQ(time.unit, "s");
    EXPECT_GE(time.values.size(), 100U);
    const auto metrics = kProbe.metrics(result);
    ASSERT_NE(find_metric(metrics, "throughput"), nullptr);
    EXPECT_NEAR(find_metric(metrics, "throughput")->value, 2 * 3 * 5 * 7 / 1e-3 / 1e12, 1e-15);
    EXPECT_NEAR(find_metric(metrics, "time")->value, 1e-3, 1e-9);
}

TEST(Gemm, AWrongAnswerHasNoSamples) {
    FakeBench bench;
    bench.fake.script.wrong_by = 1e-3;
    const auto result = bench.run(kProbe, only_case({{"shapes", "3x5x7"}}));
    ASSERT_EQ(result.checks.size(), 1U);
    EXPECT_FALSE(result.checks[0].passed);
    EXPECT_TRUE(result.launches.empty());
}

TEST(Gemm, FindsAnAnswerThatIsWrongOnlyUnderLoad) {
    FakeBench bench;
    bench.fake.script.seconds = [&](std::size_t call, double) {
        if (call > 50) bench.fake.script.wrong_by = 1e-3;
        return 1e-3;
    };
    const auto result = bench.run(kProbe, only_case({{"shapes", "3x5x7"}}));
    EXPECT_TRUE(find_check(result, "answer")->passed);
    EXPECT_FALSE(find_check(result, "answer after load")->passed);
}

// From some call on nothing is computed, and the buffer still has an answer that was right.
TEST(Gemm, AnEarlierAnswerDoesNotStandInForOneUnderLoadOrAfterIt) {
    for (const bool under_load : {true, false}) {
        FakeBench bench;
        int calls = 0;
        TimedMatmul matmul(bench.fake, [&](const auto&, const auto&) {
            if (++calls == (under_load ? 2 : 50)) {
                bench.fake.script.idle_from_call = bench.fake.calls();
            }
            return 1e-3;
        });
        bench.device.patches["matmul"] = &matmul;
        const auto result = bench.run(kProbe, only_case({{"shapes", "3x5x7"}}));
        EXPECT_TRUE(find_check(result, "answer")->passed);
        EXPECT_EQ(find_check(result, "answer under load")->passed, !under_load);
        EXPECT_FALSE(find_check(result, "answer after load")->passed);
    }
}

TEST(Gemm, SaysWhenMemoryIsTooSmallForAColdRun) {
    FakeBench bench;
    bench.fake.script.memory_bytes = std::size_t{10} * 3 * 256;
    const auto result = bench.run(kProbe, only_case({{"shapes", "3x5x7"}}));
    EXPECT_EQ(result.conditions.operand_sets, 5);
    EXPECT_NE(result.conditions.settings.at("cold").find("5 sets"), std::string::npos);
}

TEST(Gemm, SkipsWhatTheDeviceCannotDo) {
    FakeBench bench;
    bench.fake.script.lacks_types = {work::Type::bf16};
    const auto what = only_case({{"shapes", "3x5x7"}, {"dtype", "bf16"}});
    EXPECT_NE(message_of<Unsupported>([&] { bench.run(kProbe, what); }).find("bf16"),
              std::string::npos);
    bench.fake.script.lacks = {"matmul"};
    EXPECT_THROW(bench.run(kProbe, only_case({{"shapes", "3x5x7"}})), Unsupported);
}

TEST(Gemm, ALostDeviceIsThrown) {
    FakeBench bench;
    bench.fake.script.lost_at_call = 40;
    EXPECT_THROW(bench.run(kProbe, only_case({{"shapes", "3x5x7"}})), DeviceLost);
}

TEST(Gemm, ClearsCachesBetweenSamplesWhereTheProtocolSaysSo) {
    struct Row {
        const char* cache;
        measure::Protocol protocol;
        bool clears;
    };
    const Row rows[]{{"cold", measure::article(), true},
                     {"hot", measure::article(), false},
                     {"cold", measure::boost(), false}};
    for (const auto& row : rows) {
        FakeBench bench;
        bench.bench.protocol = row.protocol;
        int clears = 0;
        HookedMemory memory(bench.fake, [&](auto&, auto&, auto&) { ++clears; });
        bench.device.patches["memory"] = &memory;
        const auto what = only_case({{"shapes", "3x5x7"}, {"cache", row.cache}});
        const auto result = bench.run(kProbe, what);
        const auto samples = result.launches.at(0).samples.at("time").values.size();
        if (row.clears) {
            EXPECT_GE(clears, static_cast<int>(samples));
        } else {
            EXPECT_EQ(clears, 0) << row.cache << " " << row.protocol.name;
        }
    }
}

}  // namespace
}  // namespace assay::probes
