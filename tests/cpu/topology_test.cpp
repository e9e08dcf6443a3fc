#include "cpu/topology.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cpu/affinity.h"
#include "cpu/facts.h"

namespace assay::cpu {
namespace {

using testing::ElementsAre;

// Two packages of one node and two cores each, two hardware threads a core: 0-1, 2-3 and 4-5, 6-7.
const char* const kTwoPackages =
    "pack:2 [numa(memory=8GB)] l3:1(size=33554432) l2:2(size=1048576) l1d:1(size=32768) core:1 "
    "pu:2";

std::vector<int> first_threads(const std::vector<Core>& cores) {
    std::vector<int> cpus;
    for (const Core& core : cores) cpus.push_back(core.cpus.front());
    return cpus;
}

TEST(Topology, ReadsCoresNodesAndCaches) {
    const Topology topology(kTwoPackages);
    EXPECT_EQ(topology.packages(), 2);
    ASSERT_EQ(topology.cores().size(), 4U);
    EXPECT_EQ(topology.cores()[2], (Core{{4, 5}, 1}));
    ASSERT_EQ(topology.nodes().size(), 2U);
    EXPECT_EQ(topology.nodes()[1].index, 1);
    EXPECT_EQ(topology.nodes()[1].cores, 2);
    EXPECT_EQ(topology.nodes()[1].memory_bytes, 8'000'000'000U);
    EXPECT_THAT(topology.caches(),
                ElementsAre(record::CacheFacts{1, 32 << 10, 4}, record::CacheFacts{2, 1 << 20, 4},
                            record::CacheFacts{3, 32 << 20, 2}));
}

TEST(Topology, MalformedDescriptionIsAnError) {
    EXPECT_THROW(Topology("no such thing"), Error);
}

TEST(UsableCores, OneHardwareThreadACore) {
    const Topology topology(kTwoPackages);
    EXPECT_THAT(first_threads(usable_cores(topology, {0, 1, 2, 3, 4, 5, 6, 7}, 0)),
                ElementsAre(0, 2, 4, 6));
}

TEST(UsableCores, HonoursTheAffinityMask) {
    const Topology topology(kTwoPackages);
    const auto cores = usable_cores(topology, {1, 6, 7}, 0);
    EXPECT_THAT(first_threads(cores), ElementsAre(1, 6));
    EXPECT_EQ(cores[1].node, 1);
}

TEST(UsableCores, HonoursTheQuotaAndNeverGoesBelowOne) {
    const Topology topology(kTwoPackages);
    const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(usable_cores(topology, all, 2.9).size(), 2U);
    EXPECT_EQ(usable_cores(topology, all, 0.5).size(), 1U);
    EXPECT_EQ(usable_cores(topology, all, 64).size(), 4U);
}

TEST(UsableCores, OfThisThreadWhenPinnedToOneProcessor) {
    std::thread([] {
        const int last = thread_affinity().back();
        set_thread_affinity({last});
        EXPECT_THAT(thread_affinity(), ElementsAre(last));
        const Topology topology;
        const auto cores = usable_cores(topology);
        EXPECT_THAT(first_threads(cores), ElementsAre(last));
        const auto facts = read_facts(topology, cores);
        EXPECT_EQ(facts.compute_units, 1);
        EXPECT_EQ(facts.compute_units_total, static_cast<int>(topology.cores().size()));
    }).join();
}

TEST(Affinity, AnEmptyMaskIsAnError) {
    EXPECT_THROW(set_thread_affinity({}), Error);
}

TEST(Facts, OfThisMachineHangTogether) {
    const Topology topology;
    const auto facts = read_facts(topology, usable_cores(topology));
    EXPECT_EQ(facts.id, "cpu");
    EXPECT_FALSE(facts.name.empty());
    EXPECT_GE(facts.compute_units, 1);
    EXPECT_LE(facts.compute_units, facts.compute_units_total);
    EXPECT_GT(facts.memory_bytes, 0U);
    EXPECT_FALSE(facts.max_clock_source.empty());
    EXPECT_TRUE(facts.facts.contains("memory_channels_source"));
    EXPECT_TRUE(facts.facts.contains("hardware_threads"));
}

}  // namespace
}  // namespace assay::cpu
