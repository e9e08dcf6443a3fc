// Switches, links, modules and cables of a fat tree, counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/fat_tree.h"

namespace assay::plan {

// Of all planes together. k is the radix, h = k/2, L the leaves of a plane, N its links to nodes:
//   leaves   rail-optimised: rails x ceil(nodes/h), else ceil(N/h); one layer: one switch a plane
//   2 layers: each leaf has u = h/oversubscription up-links, equally many to each spine; spines are
//            the smallest divisor of u that is at least L u/k
//   3 layers: spines ceil(L/oversubscription), cores ceil(L u/k)
// Nodes that are missing in the last group leave their leaf ports and all links above them in
// place. Sources: NVIDIA RA-11333-001 V11 tables 3, 4 and 8; the divisor follows from equal links
// and gives every row of the published tables of DGX H100, B200, B300 (docs/planning.md).
struct NetworkCount {
    int layers = 0;
    int planes = 0;
    std::int64_t links = 0;       // nodes to leaves
    std::int64_t most_links = 0;  // that so many layers could hold
    std::int64_t leaf = 0, spine = 0, core = 0;
    std::int64_t management_links = 0;
    std::int64_t leaf_spine_links = 0, spine_core_links = 0;
    // Cables: links over links_per_cable.
    std::int64_t node_leaf_cables = 0, management_cables = 0;
    std::int64_t leaf_spine_cables = 0, spine_core_cables = 0;
    std::int64_t copper_cables = 0, fibre_cables = 0;  // the same by kind
    std::int64_t switch_modules = 0, nic_modules = 0;
    std::vector<std::string> notes;  // what a reader must know about the count

    std::int64_t switches() const { return leaf + spine + core; }
    std::int64_t links_between_switches() const { return leaf_spine_links + spine_core_links; }
};

// The most links to nodes that one plane of so many layers holds, without oversubscription: k,
// k^2/2, k^3/4.
std::int64_t most_links(int radix, int layers);

// `ports` NIC ports a node. Throws UsageError: a tree that can't hold the nodes (with what could),
// a dimension that doesn't divide, absurd numbers.
NetworkCount count_network(const catalog::FatTree& tree, std::int64_t nodes, int ports);

}  // namespace assay::plan
