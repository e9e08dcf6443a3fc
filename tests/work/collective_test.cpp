#include "work/collective.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::work {
namespace {

// Eight ranks a domain at 450 GB/s, 50 GB/s a rail.
Fabric fabric() {
    return {.inside = {.latency_s = 5e-6, .bytes_per_s = 450e9},
            .domain = 8,
            .mesh = false,
            .reduces_inside = false,
            .outside = {.latency_s = 5e-6, .bytes_per_s = 50e9},
            .layers = 2,
            .switch_s = 0.5e-6,
            .reduces_outside = false};
}

constexpr double kMany = 1e15;  // bytes that make every latency vanish

double bus(Collective collective, std::int64_t ranks, const Fabric& in) {
    return bus_bandwidth(collective, kMany, collective_time(collective, kMany, ranks, in).seconds,
                         ranks);
}

TEST(Collective, ReachesTheLinkWithinADomain) {
    for (const auto collective : {Collective::all_reduce, Collective::all_gather,
                                  Collective::reduce_scatter, Collective::all_to_all}) {
        EXPECT_NEAR(bus(collective, 8, fabric()), 450e9, 1e6) << name(collective);
        EXPECT_NEAR(bus(collective, 2, fabric()), 450e9, 1e6) << name(collective);
    }
    EXPECT_NEAR(bus(Collective::send, 2, fabric()), 450e9, 1e6);
}

TEST(Collective, AMeshGivesFewRanksOnlyTheirLinks) {
    Fabric mesh = fabric();
    mesh.mesh = true;
    mesh.inside.bytes_per_s = 448e9;  // seven links of 64 GB/s
    EXPECT_NEAR(bus(Collective::all_reduce, 2, mesh), 64e9, 1e6);
    EXPECT_NEAR(bus(Collective::all_reduce, 4, mesh), 192e9, 1e6);
    EXPECT_NEAR(bus(Collective::all_reduce, 8, mesh), 448e9, 1e6);
}

TEST(Collective, AReducingSwitchPassesTheLinkInBusBandwidth) {
    Fabric reducing = fabric();
    reducing.reduces_inside = true;
    EXPECT_NEAR(bus(Collective::all_reduce, 8, reducing), 450e9 * 2 * 7 / 8, 1e6);
    EXPECT_NEAR(bus(Collective::all_gather, 8, reducing), 450e9, 1e6);
}

TEST(Collective, SmallMessagesCostLatency) {
    EXPECT_NEAR(collective_time(Collective::all_reduce, 1, 8, fabric()).seconds, 10e-6, 1e-9);
    EXPECT_NEAR(collective_time(Collective::all_gather, 1, 8, fabric()).seconds, 5e-6, 1e-9);
    // Two domains: within, three switches on the way, within.
    const auto two = collective_time(Collective::all_reduce, 1, 16, fabric());
    EXPECT_NEAR(two.seconds, 10e-6 + 2 * 6.5e-6, 1e-9);
}

TEST(Collective, RailsCarryAnEighthEach) {
    const double expected =
        2 * (5e-6 + 7.0 / 8 * 1e9 / 450e9) + 2 * 6.5e-6 + 2 * 0.5 * (1e9 / 8) / 50e9;
    const auto ring = collective_time(Collective::all_reduce, 1e9, 16, fabric());
    EXPECT_DOUBLE_EQ(ring.seconds, expected);
    EXPECT_EQ(ring.algorithm, "direct + ring");
}

TEST(Collective, ManyDomainsTakeTheTreeForSmallMessages) {
    EXPECT_EQ(collective_time(Collective::all_reduce, 1e6, 4096, fabric()).algorithm,
              "direct + tree");
    EXPECT_EQ(collective_time(Collective::all_reduce, 1e12, 4096, fabric()).algorithm,
              "direct + ring");
    Fabric reducing = fabric();
    reducing.reduces_outside = true;
    EXPECT_EQ(collective_time(Collective::all_reduce, 1e6, 4096, reducing).algorithm,
              "direct + in-network");
}

// From 8 to 131,072 ranks: without in-network reduction all_reduce slows with the logarithm of the
// ranks, with it hardly.
TEST(Collective, GrowsWithTheLogarithmOfTheRanks) {
    Fabric reducing = fabric();
    reducing.reduces_outside = true;
    double before = 0;
    for (std::int64_t ranks = 8; ranks <= 131'072; ranks *= 2) {
        const double plain =
            collective_time(Collective::all_reduce, 1 << 20, ranks, fabric()).seconds;
        EXPECT_GE(plain, before) << ranks;
        EXPECT_LE(collective_time(Collective::all_reduce, 1 << 20, ranks, reducing).seconds, plain);
        before = plain;
    }
    const auto at = [](std::int64_t ranks) {
        return collective_time(Collective::all_reduce, 1 << 20, ranks, fabric()).seconds;
    };
    EXPECT_NEAR(at(131'072) - at(65'536), at(65'536) - at(32'768), 1e-9);
}

TEST(Collective, SendsWhatLeavesTheDomainOverTheRail) {
    // 16 ranks: 8 of 16 parts of the buffer go to the other domain, at 50 GB/s.
    const auto spread = collective_time(Collective::all_to_all, 1e9, 16, fabric());
    EXPECT_NEAR(spread.seconds, 6.5e-6 + 0.5 * 1e9 / 50e9, 1e-9);
}

TEST(Collective, OneRankAndNoBytesTakeNoTime) {
    EXPECT_EQ(collective_time(Collective::all_reduce, 1e9, 1, {}).seconds, 0);
    EXPECT_EQ(collective_time(Collective::all_reduce, 0, 8, fabric()).seconds, 0);
    EXPECT_THROW(collective_time(Collective::all_reduce, 1, 0, fabric()), UsageError);
    EXPECT_THROW(collective_time(Collective::all_reduce, 1, 8, {}), UsageError);
}

}  // namespace
}  // namespace assay::work
