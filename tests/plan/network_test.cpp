// Counts against published reference architectures.
#include "plan/network.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"

namespace assay::plan {
namespace {

using catalog::FatTree;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kRails = 8;

struct Row {
    std::int64_t nodes, leaf, spine, core;
};

void expect_switches(const FatTree& tree, const std::vector<Row>& rows, int ports = kRails) {
    for (const auto& row : rows) {
        SCOPED_TRACE(row.nodes);
        const auto n = count_network(tree, row.nodes, ports);
        EXPECT_EQ(n.leaf, row.leaf);
        EXPECT_EQ(n.spine, row.spine);
        EXPECT_EQ(n.core, row.core);
    }
}

FatTree tree_of(int radix) {
    FatTree tree;
    tree.radix = radix;
    return tree;
}

// DGX SuperPOD H100, RA-11333-001 V11, table 4: the network's manager takes four leaf ports, and a
// node is missing for it.
TEST(Network, SuperPodTable4WithItsManager) {
    auto tree = tree_of(64);
    tree.layers = 2;
    tree.management_ports = 4;
    struct {
        std::int64_t nodes, leaf, spine, compute_and_manager, spine_leaf;
    } const rows[]{{31, 8, 4, 252, 256},
                   {63, 16, 8, 508, 512},
                   {95, 24, 16, 764, 768},
                   {127, 32, 16, 1020, 1024}};
    for (const auto& row : rows) {
        SCOPED_TRACE(row.nodes);
        const auto n = count_network(tree, row.nodes, kRails);
        EXPECT_EQ(n.leaf, row.leaf);
        EXPECT_EQ(n.spine, row.spine);
        EXPECT_EQ(n.core, 0);
        EXPECT_EQ(n.node_leaf_cables + n.management_cables, row.compute_and_manager);
        EXPECT_EQ(n.leaf_spine_cables, row.spine_leaf);
    }
}

// Table 3; a core where the third layer begins.
TEST(Network, SuperPodTable3) {
    struct {
        std::int64_t nodes, leaf, spine, core, node_leaf, leaf_spine, spine_core;
    } const rows[]{{128, 32, 16, 0, 1024, 1024, 0},
                   {256, 64, 32, 0, 2048, 2048, 0},
                   {512, 128, 128, 64, 4096, 4096, 4096},
                   {1024, 256, 256, 128, 8192, 8192, 8192},
                   {2048, 512, 512, 256, 16384, 16384, 16384}};
    for (const auto& row : rows) {
        SCOPED_TRACE(row.nodes);
        const auto n = count_network(tree_of(64), row.nodes, kRails);
        EXPECT_EQ(n.layers, row.core > 0 ? 3 : 2);
        EXPECT_EQ(n.leaf, row.leaf);
        EXPECT_EQ(n.spine, row.spine);
        EXPECT_EQ(n.core, row.core);
        EXPECT_EQ(n.node_leaf_cables, row.node_leaf);
        EXPECT_EQ(n.leaf_spine_cables, row.leaf_spine);
        EXPECT_EQ(n.spine_core_cables, row.spine_core);
        EXPECT_EQ(n.fibre_cables, row.node_leaf + row.leaf_spine + row.spine_core);
        EXPECT_THAT(n.notes, IsEmpty());
    }
}

// Table 8, 127 nodes: every cage of leaf and spine is filled, a server has four twin-port modules.
TEST(Network, SuperPodTable8Modules) {
    auto tree = tree_of(64);
    tree.management_ports = 4;
    tree.links_per_nic_module = 2;
    tree.fill_cages = true;
    const auto n = count_network(tree, 127, kRails);
    EXPECT_EQ(n.node_leaf_cables + n.leaf_spine_cables, 2040);
    EXPECT_EQ(n.switch_modules, 1536);
    EXPECT_EQ(n.nic_modules, 508);
    tree.fill_cages = false;
    EXPECT_EQ(count_network(tree, 127, kRails).switch_modules, (1016 + 4 + 2 * 1024) / 2);
}

TEST(Network, DgxB200) {
    expect_switches(tree_of(64), {{64, 16, 8, 0},
                                  {128, 32, 16, 0},
                                  {256, 64, 32, 0},
                                  {512, 128, 128, 64},
                                  {1024, 256, 256, 128},
                                  {2048, 512, 512, 256}});
}

// Spectrum-4: a port of 800G is two links, one to each of two planes; cables are counted as 800G.
TEST(Network, DgxB300DualPlane) {
    auto tree = tree_of(128);
    tree.planes = 2;
    tree.links_per_cable = 2;
    tree.links_per_nic_module = 2;
    expect_switches(tree, {{64, 16, 8, 0},
                           {128, 32, 16, 0},
                           {256, 64, 32, 0},
                           {512, 128, 64, 0},
                           {1024, 256, 128, 0}});
    for (const std::int64_t nodes : {64, 128, 256, 512, 1024}) {
        const auto n = count_network(tree, nodes, kRails);
        EXPECT_EQ(n.node_leaf_cables, 8 * nodes);
        EXPECT_EQ(n.leaf_spine_cables, 8 * nodes);
        EXPECT_EQ(n.nic_modules, 8 * nodes);
    }
    tree = tree_of(64);
    tree.layers = 2;
    EXPECT_THROW(count_network(tree, 512, kRails), UsageError) << "one plane of 64 ports is full";
}

// Q3400. 18 and 36 spines, where half of the leaves would be 16 and 32; 1,296 nodes are 10,368
// devices, not the 9,216 that the table prints beside its 10,368 cables.
TEST(Network, DgxB300Xdr) {
    expect_switches(
        tree_of(144),
        {{72, 8, 4, 0}, {144, 16, 8, 0}, {288, 32, 18, 0}, {576, 64, 36, 0}, {1296, 144, 72, 0}});
    EXPECT_EQ(count_network(tree_of(144), 1296, kRails).links, 10'368);
}

// DeepSeek-V3's table: a fat tree of two layers, eight planes of it, and one of three layers.
TEST(Network, DeepSeekFatTrees) {
    struct {
        int layers, planes;
        std::int64_t nodes;
        int ports;
        std::int64_t endpoints, switches, links;
    } const rows[]{{2, 1, 256, 8, 2048, 96, 2048},
                   {2, 8, 2048, 8, 16'384, 768, 16'384},
                   {3, 1, 8192, 8, 65'536, 5120, 131'072}};
    for (const auto& row : rows) {
        auto tree = tree_of(64);
        tree.layers = row.layers;
        tree.planes = row.planes;
        const auto n = count_network(tree, row.nodes, row.ports);
        EXPECT_EQ(n.links, row.endpoints);
        EXPECT_EQ(n.most_links, row.endpoints);
        EXPECT_EQ(n.switches(), row.switches);
        EXPECT_EQ(n.links_between_switches(), row.links);
    }
}

// The public sheet of August 2024: eight planes.
TEST(Network, EightPlanes) {
    auto tree = tree_of(64);
    tree.planes = 8;
    struct {
        std::int64_t nodes, switches;
        int layers;
    } const rows[]{{64, 8, 1},      {128, 48, 2},    {256, 96, 2},
                   {512, 192, 2},   {1024, 384, 2},  {2048, 768, 2},
                   {4096, 2560, 3}, {8192, 5120, 3}, {16'384, 10'240, 3}};
    for (const auto& row : rows) {
        const auto n = count_network(tree, row.nodes, kRails);
        EXPECT_EQ(n.switches(), row.switches) << row.nodes;
        EXPECT_EQ(n.layers, row.layers) << row.nodes;
        EXPECT_THAT(n.notes, testing::Contains(HasSubstr("no path between them"))) << row.nodes;
    }
}

TEST(Network, OversubscriptionAtTheLeafTakesSpines) {
    auto tree = tree_of(64);
    tree.oversubscription = 2;
    const auto n = count_network(tree, 128, kRails);
    EXPECT_EQ(n.leaf, 32);
    EXPECT_EQ(n.spine, 8);
    EXPECT_EQ(n.leaf_spine_links, 512);
}

TEST(Network, TwinPortModulesAtNicsAreHalf) {
    auto tree = tree_of(64);
    std::int64_t modules = 0;
    for (int island = 0; island < 4; ++island) modules += count_network(tree, 3072, 8).nic_modules;
    EXPECT_EQ(modules, 98'304);
    tree.links_per_nic_module = 2;
    EXPECT_EQ(4 * count_network(tree, 3072, 8).nic_modules, 49'152);
}

TEST(Network, CopperTakesNoModules) {
    auto tree = tree_of(64);
    tree.copper = true;
    const auto n = count_network(tree, 128, kRails);
    EXPECT_EQ(n.copper_cables, 1024);
    EXPECT_EQ(n.fibre_cables, 1024);
    EXPECT_EQ(n.nic_modules, 0);
    EXPECT_EQ(n.switch_modules, 1024);
    tree.fill_cages = true;
    EXPECT_EQ(count_network(tree, 128, kRails).switch_modules, 1024);
}

TEST(Network, WholeUnitsLeaveThePortsOfMissingNodes) {
    auto tree = tree_of(128);
    tree.layers = 2;
    EXPECT_EQ(count_network(tree, 65, kRails).leaf, 16);
    tree.unit = 72;
    EXPECT_EQ(count_network(tree, 1, kRails).leaf, 16) << "a unit of 72 takes two groups of 64";
    EXPECT_EQ(count_network(tree, 1, kRails).node_leaf_cables, 8);
}

TEST(Network, SmallSystemsFitOneSwitch) {
    EXPECT_EQ(count_network(tree_of(64), 8, kRails).layers, 1);
    EXPECT_EQ(count_network(tree_of(64), 8, kRails).switches(), 1);
    EXPECT_EQ(count_network(tree_of(64), 8, kRails).switch_modules, 32);
    EXPECT_EQ(count_network(tree_of(128), 16, kRails).switches(), 1);
    EXPECT_EQ(count_network(tree_of(64), 9, kRails).layers, 2);
}

// Leaves that are filled one after the other are fewer than one a rail.
TEST(Network, RailsTakeALeafEach) {
    auto tree = tree_of(64);
    EXPECT_EQ(count_network(tree, 12, kRails).leaf, 8);
    tree.rail_optimised = false;
    EXPECT_EQ(count_network(tree, 12, kRails).leaf, 3);
}

// A spine's links to a leaf are whole and equal: what the rule for spines is for.
TEST(Network, EveryLeafHasTheSameLinksToEverySpine) {
    for (const int radix : {32, 64, 128, 144}) {
        for (std::int64_t nodes = 1; nodes <= radix * radix / 16; ++nodes) {
            auto tree = tree_of(radix);
            tree.layers = 2;
            const auto n = count_network(tree, nodes, kRails);
            ASSERT_EQ(radix / 2 % n.spine, 0) << radix << " " << nodes;
            ASSERT_LE(n.leaf * (radix / 2 / n.spine), radix) << radix << " " << nodes;
        }
    }
}

TEST(Network, OddSizesOfThreeLayersAreMarked) {
    EXPECT_THAT(count_network(tree_of(64), 300, kRails).notes, SizeIs(1));
    EXPECT_THAT(count_network(tree_of(64), 512, kRails).notes, IsEmpty());
}

TEST(Network, RefusesWhatCannotBe) {
    auto tree = tree_of(64);
    tree.layers = 2;
    expect_error<UsageError>([&] { count_network(tree, 512, 8); },
                             "4096 links a plane don't fit 2 layers of 64-port switches, which "
                             "hold 2048",
                             "3 layers hold them");
    tree.layers = 0;
    expect_error<UsageError>([&] { count_network(tree, 100'000, 8); },
                             "800000 links a plane don't fit 3 layers of 64-port switches, which "
                             "hold 65536",
                             "larger radix");
    expect_error<UsageError>([&] { count_network(tree, 0, 8); }, "0 nodes can't be wired",
                             "from 1 to");
    expect_error<UsageError>([&] { count_network(tree, -5, 8); }, "-5 nodes can't be wired",
                             "from 1 to");
    tree.oversubscription = 7;
    expect_error<UsageError>([&] { count_network(tree, 64, 8); },
                             "32 up-links of a leaf don't divide by oversubscription 7",
                             "divides half of the radix");
    tree = tree_of(65);
    expect_error<UsageError>([&] { count_network(tree, 64, 8); }, "radix 65 is odd", "even");
    tree = tree_of(64);
    tree.planes = 3;
    expect_error<UsageError>([&] { count_network(tree, 64, 8); },
                             "8 links of a node don't divide over 3 planes", "planes");
}

}  // namespace
}  // namespace assay::plan
