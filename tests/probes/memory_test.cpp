#include "probes/memory.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "probes/fake_bench.h"
#include "probes/hooked_memory.h"
#include "record/host.h"

namespace assay::probes {
namespace {

const MemoryProbe kProbe;

using Values = std::map<std::string, std::string>;

std::vector<std::string> expand(const Values& values, const record::DeviceFacts& facts = {}) {
    std::vector<std::string> texts;
    for (const auto& what : kProbe.expand(options_of(kProbe, values), facts)) {
        texts.push_back(what.text());
    }
    return texts;
}

record::Case only_case(const Values& values) {
    return kProbe.expand(options_of(kProbe, values), {}).at(0);
}

// Two nodes with cores and one of memory only.
record::DeviceFacts nodes() {
    auto facts = device::FakeDevice::fake_facts();
    facts.nodes = {{0, 1 << 20, 2}, {1, 1 << 20, 2}, {2, 1 << 20, 0}};
    return facts;
}

TEST(Memory, ExpandsKernelsAndSizes) {
    using Texts = std::vector<std::string>;
    EXPECT_EQ(expand({{"op", "copy"}, {"size", "64K"}}), (Texts{"op=copy size=64K"}));
    EXPECT_EQ(expand({{"op", "copy,triad"}, {"size", "64K..256K*2"}}),
              (Texts{"op=copy size=64K", "op=copy size=128K", "op=copy size=256K",
                     "op=triad size=64K", "op=triad size=128K", "op=triad size=256K"}));
    EXPECT_EQ(expand({{"op", "read"}, {"size", "100"}}), (Texts{"op=read size=100"}));
    EXPECT_EQ(expand({{"size", "64K..8G*2"}}).size(), 6U * 18);
}

TEST(Memory, ExpandsCoresOfEachNodeAgainstMemoryOfEach) {
    const Values all{{"op", "read"}, {"size", "4K"}, {"numa", "all"}};
    EXPECT_EQ(
        expand(all, nodes()),
        (std::vector<std::string>{"op=read size=4K nodes=0->0", "op=read size=4K nodes=0->1",
                                  "op=read size=4K nodes=0->2", "op=read size=4K nodes=1->0",
                                  "op=read size=4K nodes=1->1", "op=read size=4K nodes=1->2"}));
    EXPECT_EQ(expand(all), (std::vector<std::string>{"op=read size=4K"}));  // no node is known
}

TEST(Memory, ExpandsTransfersByHostMemoryAndNode) {
    using Texts = std::vector<std::string>;
    const Values both{{"op", "host_to_device,device_to_device"},
                      {"size", "1M"},
                      {"host-memory", "pinned,pageable"}};
    EXPECT_EQ(expand(both),
              (Texts{"op=host_to_device size=1M", "op=host_to_device size=1M host_memory=pageable",
                     "op=device_to_device size=1M"}));
    auto facts = nodes();
    facts.nodes.push_back({3, 0, 2});  // cores only
    EXPECT_EQ(expand({{"op", "both_ways"}, {"size", "1M"}, {"numa", "all"}}, facts),
              (Texts{"op=both_ways size=1M nodes=0", "op=both_ways size=1M nodes=1",
                     "op=both_ways size=1M nodes=2"}));
    EXPECT_EQ(expand({{"op", "device_to_device"}, {"size", "1M"}, {"numa", "all"}}, facts),
              Texts{"op=device_to_device size=1M"});
    // An accelerator doesn't know the host's nodes: then the system does.
    const auto asked = expand({{"op", "both_ways"}, {"size", "1M"}, {"numa", "all"}});
    EXPECT_EQ(asked.size(), std::max<std::size_t>(1, record::memory_nodes("/").size()));
    EXPECT_EQ(expand({{"op", "device_to_host,copy"}, {"size", "1M"}}),
              (Texts{"op=copy size=1M", "op=device_to_host size=1M"}));
}

TEST(Memory, ExpandsTheKernelsAskedFor) {
    using Texts = std::vector<std::string>;
    EXPECT_EQ(expand({{"op", "copy"}, {"size", "1M"}, {"kernel", "bulk,all"}}),
              (Texts{"op=copy size=1M kernel=bulk", "op=copy size=1M kernel=all"}));
}

TEST(Memory, SizesClimbThroughTheCachesOfTheDevice) {
    using Texts = std::vector<std::string>;
    EXPECT_EQ(expand({{"op", "read"}}), (Texts{"op=read size=32K", "op=read size=512K",
                                               "op=read size=8M", "op=read size=1G"}));
    auto facts = device::FakeDevice::fake_facts();
    facts.memory_bytes = std::uint64_t{141} << 30;
    const Texts large{"op=read size=1M", "op=read size=16M", "op=read size=256M",
                      "op=read size=8G"};
    EXPECT_EQ(expand({{"op", "read"}}, facts), large);
    EXPECT_EQ(expand({{"op", "device_to_host"}}, facts),
              (Texts{"op=device_to_host size=1M", "op=device_to_host size=16M",
                     "op=device_to_host size=256M"}));
    EXPECT_EQ(expand({{"op", "device_to_device"}}, facts).size(), 4U);
    facts.memory_bytes = std::uint64_t{16} << 30;
    EXPECT_EQ(expand({{"op", "read"}}, facts).back(), "op=read size=4G");
    facts.memory_bytes = std::uint64_t{1} << 30;
    EXPECT_EQ(expand({{"op", "read"}}, facts).back(), "op=read size=256M");
    EXPECT_EQ(expand({{"op", "read"}}, facts).size(), 3U);
    facts.memory_bytes = std::uint64_t{32} << 20;
    EXPECT_EQ(expand({{"op", "read"}}, facts), (Texts{"op=read size=1M", "op=read size=8M"}));
}

TEST(Memory, RefusesOptionsWithoutAMeaning) {
    for (const Values& row :
         {Values{{"op", "move"}}, Values{{"op", ""}}, Values{{"size", "0"}}, Values{{"size", "6"}},
          Values{{"size", "-4"}}, Values{{"size", ""}}, Values{{"size", "64K..32K*2"}},
          Values{{"numa", "some"}}, Values{{"op", "both_ways"}, {"kernel", "bulk"}},
          Values{{"op", "both_ways"}, {"host-memory", "paged"}},
          Values{{"op", "copy"}, {"host-memory", "pageable"}}, Values{{"kernel", "a,,b"}}}) {
        EXPECT_THROW(expand(row, nodes()), UsageError)
            << row.begin()->first << " " << row.begin()->second;
    }
}

TEST(Memory, CountsEachArrayOnceAndSaysSo) {
    const struct {
        const char* op;
        double arrays;
    } rows[]{{"copy", 2}, {"read", 1}, {"write", 1}, {"scale", 2}, {"add", 3}, {"triad", 3}};
    for (const auto& row : rows) {
        FakeBench bench;  // a call takes 1 ms
        const auto result = bench.run(kProbe, only_case({{"op", row.op}, {"size", "8K"}}));
        ASSERT_EQ(result.launches.size(), 1U);
        EXPECT_TRUE(result.checks.at(0).passed) << result.checks.at(0).detail;
        EXPECT_EQ(result.path, record::Path::portable);
        EXPECT_EQ(result.conditions.footprint_bytes, static_cast<std::uint64_t>(row.arrays * 8192));
        const auto metrics = kProbe.metrics(result);
        const auto* bandwidth = find_metric(metrics, "bandwidth");
        EXPECT_EQ(bandwidth->unit, "GB/s");
        constexpr double kPasses = 1024;  // 8 MiB a call
        EXPECT_NEAR(bandwidth->value, row.arrays * 8192 * kPasses / 1e-3 / 1e9, 1e-6) << row.op;
        EXPECT_NE(bandwidth->definition.find("8192 bytes x 1024 passes"), std::string::npos);
        EXPECT_NEAR(find_metric(metrics, "time")->value, 1e-3, 1e-9);
    }
}

TEST(Memory, TheKernelAskedForRuns) {
    FakeBench bench;
    bench.fake.script.kernels = {"vector", "bulk"};
    HookedMemory memory(bench.fake, [](auto& stream, auto& plain, const auto& operands) {
        plain.enqueue(stream, operands);
    });
    bench.device.patches["memory"] = &memory;
    const Values copy{{"op", "copy"}, {"size", "8K"}};
    auto result = bench.run(kProbe, only_case(copy));
    EXPECT_EQ(memory.requests.at(0).kernel, "");
    result = bench.run(kProbe, only_case({{"op", "copy"}, {"size", "8K"}, {"kernel", "bulk"}}));
    EXPECT_EQ(memory.requests.at(1).kernel, "bulk");
    EXPECT_EQ(result.conditions.algorithm, "bulk");
    EXPECT_TRUE(result.checks.at(0).passed);

    const auto bulky = only_case({{"op", "copy"}, {"size", "8K"}, {"kernel", "bulky"}});
    EXPECT_EQ(message_of<Unsupported>([&] { bench.run(kProbe, bulky); }),
              "fake:0 has no kernel \"bulky\" for copy");
    bench.fake.script.kernels.clear();
    EXPECT_THROW(bench.run(kProbe, bulky), Unsupported);
    EXPECT_EQ(memory.requests.size(), 2U);
}

TEST(Memory, TheDeviceSaysWhatACallGoesOver) {
    FakeBench bench;
    bench.fake.script.largest_slice = 64 << 10;
    bench.fake.script.least_bytes = 32 << 10;
    auto result = bench.run(kProbe, only_case({{"op", "copy"}, {"size", "200K"}}));
    // Four slices of 50 KiB, each cut to whole pages.
    auto metric = *find_metric(kProbe.metrics(result), "bandwidth");
    EXPECT_NE(metric.definition.find("x 49152 bytes x 1 passes"), std::string::npos);
    EXPECT_NEAR(metric.value, 2 * 49152 / 1e-3 / 1e9, 1e-9);
    EXPECT_EQ(result.conditions.footprint_bytes, 400U << 10);

    result = bench.run(kProbe, only_case({{"op", "copy"}, {"size", "8K"}}));
    EXPECT_NEAR(find_metric(kProbe.metrics(result), "bandwidth")->value, 2 * 8192 * 4 / 1e-3 / 1e9,
                1e-9);
    result.conditions.settings.clear();
    EXPECT_THROW(kProbe.metrics(result), Error) << "what isn't recorded isn't guessed";
}

TEST(Memory, AWrongAnswerHasNoSamples) {
    FakeBench bench;
    bench.fake.script.wrong_by = 0.5;
    const auto result = bench.run(kProbe, only_case({{"op", "copy"}, {"size", "8K"}}));
    ASSERT_EQ(result.checks.size(), 1U);
    EXPECT_FALSE(result.checks[0].passed);
    EXPECT_TRUE(result.launches.empty());
}

// From some call on nothing is done, and the target still holds an answer that was right.
TEST(Memory, AnEarlierAnswerDoesNotStandInForOneUnderLoadOrAfterIt) {
    for (const auto* op : {"copy", "read"}) {
        for (const bool under_load : {true, false}) {
            FakeBench bench;
            int calls = 0;
            const auto cheap = bench.fake.need<ops::Memory>().prepare({work::MemoryOp::copy, 0});
            HookedMemory memory(bench.fake, [&](auto& stream, auto& plain, const auto& operands) {
                const bool works = ++calls <= (under_load ? 1 : 50);
                (works ? plain : *cheap).enqueue(stream, operands);
            });
            bench.device.patches["memory"] = &memory;
            const auto result = bench.run(kProbe, only_case({{"op", op}, {"size", "8K"}}));
            EXPECT_TRUE(find_check(result, "answer")->passed) << op;
            const auto* loaded = find_check(result, "answer under load");
            ASSERT_EQ(loaded != nullptr, std::string(op) == "copy");
            EXPECT_TRUE(loaded == nullptr || loaded->passed != under_load) << op;
            EXPECT_FALSE(find_check(result, "answer after load")->passed) << op;
        }
    }
}

TEST(Memory, EveryKernelComparedIsCheckedAfterTheLoadToo) {
    FakeBench bench;
    bench.fake.script.kernels = {"plain", "other"};
    bench.fake.script.seconds = [&](std::size_t call, double) {
        if (call > 100) bench.fake.script.wrong_by = 0.5;
        return 1e-3;
    };
    const auto result =
        bench.run(kProbe, only_case({{"op", "copy"}, {"size", "8K"}, {"kernel", "all"}}));
    EXPECT_TRUE(find_check(result, "answer of other")->passed);
    EXPECT_FALSE(find_check(result, "answer of plain after load")->passed);
    EXPECT_FALSE(find_check(result, "answer of other after load")->passed);
}

TEST(Memory, TooLargeIsRefusedBeforeAnythingIsAllocated) {
    FakeBench bench;
    bench.fake.script.memory_bytes = 100 << 10;
    bench.device.on_allocate = [](std::size_t, int) { FAIL() << "memory was allocated"; };
    EXPECT_EQ(message_of<Unsupported>([&] {
                  bench.run(kProbe, only_case({{"op", "triad"}, {"size", "64K"}}));
              }),
              "3 arrays of 64K need 192 KiB, and 100 KiB of fake:0 are free");
    EXPECT_THROW(bench.run(kProbe, only_case({{"op", "triad"}, {"size", "8388608T"}})),
                 Unsupported);  // the three together are more than 2^64 bytes
}

TEST(Memory, PassesTheCachesByWhereTheArraysDoNotStayInThem) {
    for (const auto& [size, in_cache] : {std::pair{"256K", true}, {"260K", false}}) {
        FakeBench bench;  // of 1 MiB, half of which is 2 x 256 KiB
        HookedMemory memory(bench.fake, [](auto& stream, auto& plain, const auto& operands) {
            plain.enqueue(stream, operands);
        });
        bench.device.patches["memory"] = &memory;
        const auto result = bench.run(kProbe, only_case({{"op", "copy"}, {"size", size}}));
        ASSERT_EQ(memory.requests.size(), 1U);
        EXPECT_EQ(memory.requests[0].in_cache, in_cache) << size;
        EXPECT_EQ(result.conditions.settings.at("stores"),
                  in_cache ? "through the caches" : "past the caches");
    }
}

TEST(Memory, TakesCoresAndMemoryOfTheNodesAskedFor) {
    FakeBench bench(nodes());
    HookedMemory memory(bench.fake, [](auto& stream, auto& plain, const auto& operands) {
        plain.enqueue(stream, operands);
    });
    bench.device.patches["memory"] = &memory;
    std::set<int> allocated_on;
    bench.device.on_allocate = [&](std::size_t, int node) { allocated_on.insert(node); };
    auto what = only_case({{"op", "copy"}, {"size", "4K"}});
    bench.run(kProbe, what.set("nodes", "1->0", "local"));
    EXPECT_EQ(memory.requests.at(0).node, 1);
    EXPECT_EQ(allocated_on, std::set{0});
    bench.run(kProbe, what.set("nodes", "local", "local"));
    EXPECT_EQ(memory.requests.at(1).node, device::kAnyNode);
    EXPECT_EQ(allocated_on, (std::set{0, device::kAnyNode}));
    EXPECT_THROW(bench.run(kProbe, what.set("nodes", "1-0", "local")), Error);
}

// Large arrays are worked on in slices of at most 32 MiB. The kernel runs only while the slices are
// checked and on the first one of the load, since each takes the fake device long.
TEST(Memory, GoesThroughLargeArraysSliceBySlice) {
    FakeBench bench;
    std::vector<const std::byte*> sources;
    const auto cheap = bench.fake.need<ops::Memory>().prepare({work::MemoryOp::copy, 64});
    HookedMemory memory(bench.fake, [&](auto& stream, auto& plain, const auto& operands) {
        sources.push_back(static_cast<const std::byte*>(operands.a));
        (sources.size() <= 3 ? plain : *cheap).enqueue(stream, operands);
    });
    bench.device.patches["memory"] = &memory;
    const auto result = bench.run(kProbe, only_case({{"op", "copy"}, {"size", "33M"}}));
    constexpr std::uint64_t kSlice = 33 << 19;  // half: a multiple of the page already
    EXPECT_EQ(memory.requests.at(0).bytes_per_array, kSlice);
    EXPECT_TRUE(result.checks.at(0).passed) << result.checks.at(0).detail;
    EXPECT_EQ(result.conditions.footprint_bytes, std::uint64_t{66} << 20);
    EXPECT_TRUE(find_check(result, "answer under load")->passed);
    EXPECT_EQ(sources.back(), sources.front()) << "the first slice once more, after the load";
    for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
        const auto call = i < 2 ? i : i - 2;  // counted anew once the slices are checked
        ASSERT_EQ(sources[i] - sources[0], static_cast<std::ptrdiff_t>(call % 2 * kSlice)) << i;
    }
    EXPECT_NEAR(find_metric(kProbe.metrics(result), "bandwidth")->value, 2 * kSlice / 1e-3 / 1e9,
                1e-6);
}

TEST(Memory, ASliceThatIsWrongFailsTheWhole) {
    FakeBench bench;
    int calls = 0;
    HookedMemory memory(bench.fake, [&](auto& stream, auto& plain, const auto& operands) {
        if (++calls == 1) plain.enqueue(stream, operands);
    });
    bench.device.patches["memory"] = &memory;
    const auto result = bench.run(kProbe, only_case({{"op", "write"}, {"size", "33M"}}));
    EXPECT_EQ(calls, 2);
    EXPECT_FALSE(result.checks.at(0).passed);
    EXPECT_TRUE(result.launches.empty());
}

}  // namespace
}  // namespace assay::probes
