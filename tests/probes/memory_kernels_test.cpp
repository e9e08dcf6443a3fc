#include "probes/memory_kernels.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "probes/fake_bench.h"
#include "probes/hooked_memory.h"
#include "probes/memory.h"

namespace assay::probes {
namespace {

const MemoryProbe kProbe;

record::Case all_kernels(const char* op) {
    return kProbe.expand(options_of(kProbe, {{"op", op}, {"size", "8K"}, {"kernel", "all"}}), {})
        .at(0);
}

// "vector" takes 1 ms a call, "bulk" 0.8 ms.
struct TwoKernels : FakeBench {
    TwoKernels() {
        fake.script.kernels = {"vector", "bulk"};
        device.patches["memory"] = &memory;
    }
    HookedMemory memory{fake, [this](auto& stream, auto& plain, const auto& operands) {
                            const bool bulk = plain.implementation().algorithm == "bulk";
                            fake.script.seconds = [bulk](std::size_t, double) {
                                return bulk ? 0.8e-3 : 1e-3;
                            };
                            plain.enqueue(stream, operands);
                        }};
};

TEST(MemoryKernels, AreComparedInOneCaseWhateverTheProtocol) {
    EXPECT_TRUE(kProbe.has_own_method(all_kernels("copy")));
    auto plain = all_kernels("copy");
    EXPECT_FALSE(kProbe.has_own_method(plain.set("kernel", "vector", "")));
    EXPECT_FALSE(kProbe.has_own_method(plain.set("kernel", "", "")));
}

TEST(MemoryKernels, EachHasItsBandwidthAndItsGainOverTheFirst) {
    TwoKernels bench;
    const auto result = bench.run(kProbe, all_kernels("copy"));
    EXPECT_EQ(result.conditions.protocol, "interleaved");
    for (const auto* check : {"answer of vector", "answer of bulk"}) {
        ASSERT_NE(find_check(result, check), nullptr) << check;
        EXPECT_TRUE(find_check(result, check)->passed);
    }
    const auto metrics = kProbe.metrics(result);
    ASSERT_EQ(metrics.size(), 3U);
    EXPECT_EQ(metrics[0].name, "bandwidth of vector") << "the default first";
    constexpr double kBytes = 2.0 * 8192 * 1024;
    EXPECT_NEAR(metrics[0].value, kBytes / 1e-3 / 1e9, 1e-6);
    EXPECT_EQ(metrics[1].name, "bandwidth of bulk");
    EXPECT_NEAR(metrics[1].value, kBytes / 0.8e-3 / 1e9, 1e-6);
    EXPECT_EQ(metrics[2].name, "gain of bulk");
    EXPECT_NEAR(metrics[2].value, 1.25, 1e-9);
    EXPECT_GE(metrics[2].n, 60U);
    EXPECT_LE(metrics[2].interval->first, 1.25 + 1e-9);
}

TEST(MemoryKernels, AWrongOneStopsTheComparison) {
    FakeBench bench;
    bench.fake.script.kernels = {"vector", "bulk"};
    HookedMemory memory(bench.fake, [](auto& stream, auto& plain, const auto& operands) {
        if (plain.implementation().algorithm != "bulk") plain.enqueue(stream, operands);
    });
    bench.device.patches["memory"] = &memory;
    const auto result = bench.run(kProbe, all_kernels("copy"));
    EXPECT_TRUE(find_check(result, "answer of vector")->passed);
    EXPECT_FALSE(find_check(result, "answer of bulk")->passed);
    EXPECT_TRUE(result.launches.empty());
    EXPECT_TRUE(kProbe.metrics(result).empty());
}

TEST(MemoryKernels, OneWayIsNothingToCompare) {
    FakeBench bench;
    for (const std::vector<std::string>& known : {std::vector<std::string>{}, {"vector"}}) {
        bench.fake.script.kernels = known;
        EXPECT_EQ(message_of<Unsupported>([&] { bench.run(kProbe, all_kernels("triad")); }),
                  "fake:0 has one way to triad");
    }
}

}  // namespace
}  // namespace assay::probes
