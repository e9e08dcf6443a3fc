#include "cpu/thread_team.h"

#include <atomic>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "base/error.h"
#include "cpu/affinity.h"
#include "cpu/facts.h"

namespace assay::cpu {
namespace {

std::vector<Core> cores_here() {
    const Topology topology;
    return usable_cores(topology);
}

TEST(ThreadTeam, RunsOneMemberOnEachCore) {
    const auto cores = cores_here();
    ThreadTeam team(cores);
    std::vector<int> ran_on(cores.size(), -1);
    team.run([&](int index, int count) {
        EXPECT_EQ(count, static_cast<int>(cores.size()));
        ran_on[static_cast<std::size_t>(index)] = sched_getcpu();
    });
    for (std::size_t i = 0; i < cores.size(); ++i) EXPECT_EQ(ran_on[i], cores[i].cpus.front());
}

TEST(ThreadTeam, GivesItsCallerTheEarlierAffinityBack) {
    const auto before = thread_affinity();
    ThreadTeam team(cores_here());
    EXPECT_EQ(thread_affinity(), before);
    team.run([&](int index, int) {
        const auto& core = team.cores()[static_cast<std::size_t>(index)];
        EXPECT_EQ(thread_affinity(), core.cpus);
    });
    EXPECT_EQ(thread_affinity(), before);
    team.pin();
    team.pin();
    team.run([](int, int) {});
    EXPECT_EQ(thread_affinity(), team.cores()[0].cpus);
    team.unpin();
    EXPECT_EQ(thread_affinity(), before);
}

TEST(ThreadTeam, WorksOnASingleCore) {
    std::thread([] {
        set_thread_affinity({thread_affinity().front()});
        ThreadTeam team(cores_here());
        EXPECT_EQ(team.size(), 1);
        int calls = 0;
        for (int i = 0; i < 100; ++i) team.run([&](int, int) { ++calls; });
        EXPECT_EQ(calls, 100);
    }).join();
}

// More members than processors: each must still get its turn, awake or asleep.
TEST(ThreadTeam, EveryRoundReachesEveryMember) {
    const Core core{{thread_affinity().front()}, 0};
    ThreadTeam team({core, core, core});
    std::vector<int> calls(3, 0);
    for (int i = 0; i < 200; ++i) {
        team.run([&](int index, int) { ++calls[static_cast<std::size_t>(index)]; });
    }
    EXPECT_THAT(calls, testing::Each(200));
}

TEST(ThreadTeam, RunsOnTheCoresOfOneNodeOnly) {
    const int cpu = thread_affinity().front();
    ThreadTeam team({{{cpu}, 0}, {{cpu}, 1}, {{cpu}, 1}});
    EXPECT_EQ(team.size(1), 2);
    const auto caller = std::this_thread::get_id();
    std::atomic<int> sum{0};
    team.run(
        [&](int index, int count) {
            EXPECT_EQ(count, 2);
            EXPECT_NE(std::this_thread::get_id(), caller);
            sum += index + 1;
        },
        1);
    EXPECT_EQ(sum, 3) << "indices 0 and 1";
    EXPECT_THROW(team.run([](int, int) {}, 7), Unsupported);
}

TEST(ThreadTeam, RethrowsAMembersErrorAndGoesOn) {
    const Core core{{thread_affinity().front()}, 0};
    ThreadTeam team({core, core});
    for (int failing : {0, 1}) {
        EXPECT_THROW(team.run([&](int index, int) {
            if (index == failing) throw Unsupported("planted");
        }),
                     Unsupported);
    }
    std::atomic<int> calls{0};
    team.run([&](int, int) { ++calls; });
    EXPECT_EQ(calls, 2);
}

TEST(ThreadTeam, NeedsACore) {
    EXPECT_THROW(ThreadTeam({}), Error);
}

}  // namespace
}  // namespace assay::cpu
