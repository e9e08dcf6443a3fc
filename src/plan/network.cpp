#include "plan/network.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::plan {

namespace {

constexpr std::int64_t kMostNodes = 1'000'000;
constexpr int kMostLayers = 3;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// One plane of two layers or more.
struct Plane {
    std::int64_t leaf = 0, spine = 0, core = 0, leaf_spine = 0, spine_core = 0;
};

void check(const catalog::FatTree& tree, std::int64_t nodes, int ports) {
    if (nodes < 1 || nodes > kMostNodes) {
        throw UsageError(fmt::format("{} nodes can't be wired", nodes),
                         "the number of nodes goes from 1 to 1,000,000");
    }
    if (ports < 1 || ports > 1024) {
        throw UsageError(fmt::format("{} NIC ports a node can't be wired", ports),
                         "the ports of a node go from 1 to 1024");
    }
    if (tree.radix % 2 != 0) {
        throw UsageError(fmt::format("radix {} is odd", tree.radix),
                         "half of a leaf's ports go down and half up: give an even radix");
    }
    if (ports * tree.links_per_cable % tree.planes != 0) {
        throw UsageError(fmt::format("{} links of a node don't divide over {} planes",
                                     ports * tree.links_per_cable, tree.planes),
                         "choose a number of planes that divides NIC ports x links_per_cable");
    }
    if (tree.radix / 2 % tree.oversubscription != 0) {
        throw UsageError(fmt::format("{} up-links of a leaf don't divide by oversubscription {}",
                                     tree.radix / 2, tree.oversubscription),
                         "choose an oversubscription that divides half of the radix");
    }
}

std::int64_t smallest_divisor(std::int64_t of, std::int64_t least) {
    for (std::int64_t d = std::max<std::int64_t>(least, 1); d <= of; ++d) {
        if (of % d == 0) return d;
    }
    return 0;
}

class Counter {
  public:
    Counter(const catalog::FatTree& tree, std::int64_t nodes, int ports)
        : tree_(tree),
          k_(tree.radix),
          h_(tree.radix / 2),
          rails_(ports * tree.links_per_cable / tree.planes),
          nodes_(tree.unit > 0 ? ceil_div(nodes, tree.unit) * tree.unit : nodes) {}

    // Links of a plane with its whole units and its manager.
    std::int64_t needed() const { return nodes_ * rails_ + tree_.management_ports; }

    std::int64_t leaves() const {
        if (!tree_.rail_optimised) return ceil_div(needed(), h_);
        auto groups = ceil_div(nodes_, h_);
        if (groups * h_ * rails_ < needed()) ++groups;
        return rails_ * groups;
    }

    bool fits(int layers) const {
        if (layers == 1) return needed() <= k_;
        return leaves() * h_ <= most_links(tree_.radix, layers);
    }

    Plane plane(int layers) const {
        Plane plane;
        if (layers == 1) {
            plane.leaf = 1;
            return plane;
        }
        const std::int64_t up = h_ / tree_.oversubscription;
        plane.leaf = leaves();
        plane.leaf_spine = plane.leaf * up;
        if (layers == 2) {
            plane.spine = smallest_divisor(up, ceil_div(plane.leaf_spine, k_));
        } else {
            plane.spine = ceil_div(plane.leaf, tree_.oversubscription);
            plane.spine_core = plane.leaf_spine;
            plane.core = ceil_div(plane.leaf_spine, k_);
        }
        return plane;
    }

  private:
    const catalog::FatTree& tree_;
    std::int64_t k_, h_, rails_, nodes_;
};

int choose_layers(const catalog::FatTree& tree, const Counter& counter) {
    const int least = tree.layers > 0 ? tree.layers : 1;
    const int most = tree.layers > 0 ? tree.layers : kMostLayers;
    for (int layers = least; layers <= most; ++layers) {
        if (counter.fits(layers)) return layers;
    }
    int enough = most;
    while (enough < kMostLayers && !counter.fits(enough)) ++enough;
    throw UsageError(
        fmt::format("{} links a plane don't fit {} layer{} of {}-port switches, which hold {}",
                    counter.needed(), most, most > 1 ? "s" : "", tree.radix,
                    most_links(tree.radix, most)),
        enough > most
            ? fmt::format("{} layers hold them; or take more planes or a larger radix", enough)
            : "take more planes or a larger radix");
}

void count_modules(const catalog::FatTree& tree, NetworkCount& count) {
    const auto ends_at_leaf = tree.copper ? 0 : count.links;
    auto used = ends_at_leaf + count.management_links + 2 * count.links_between_switches();
    if (tree.fill_cages) {
        // Copper fills the cages below a leaf, modules those above it.
        const auto below = tree.copper ? count.links : 0;
        used = tree.radix * count.switches() - below;
    }
    count.switch_modules = ceil_div(used, tree.links_per_switch_module);
    count.nic_modules = tree.copper ? 0 : ceil_div(count.links, tree.links_per_nic_module);
}

}  // namespace

std::int64_t most_links(int radix, int layers) {
    const std::int64_t k = radix;
    return layers == 1 ? k : layers == 2 ? k * k / 2 : k * k * k / 4;
}

NetworkCount count_network(const catalog::FatTree& tree, std::int64_t nodes, int ports) {
    check(tree, nodes, ports);
    const Counter counter(tree, nodes, ports);
    NetworkCount count;
    count.layers = choose_layers(tree, counter);
    count.planes = tree.planes;
    count.links = nodes * ports * tree.links_per_cable;
    count.most_links = tree.planes * most_links(tree.radix, count.layers);
    const auto plane = counter.plane(count.layers);
    count.leaf = tree.planes * plane.leaf;
    count.spine = tree.planes * plane.spine;
    count.core = tree.planes * plane.core;
    count.management_links = std::int64_t{tree.planes} * tree.management_ports;
    count.leaf_spine_links = tree.planes * plane.leaf_spine;
    count.spine_core_links = tree.planes * plane.spine_core;

    count.node_leaf_cables = ceil_div(count.links, tree.links_per_cable);
    count.management_cables = count.management_links;
    count.leaf_spine_cables = ceil_div(count.leaf_spine_links, tree.links_per_cable);
    count.spine_core_cables = ceil_div(count.spine_core_links, tree.links_per_cable);
    count.copper_cables = tree.copper ? count.node_leaf_cables : 0;
    count.fibre_cables = count.node_leaf_cables - count.copper_cables + count.management_cables +
                         count.leaf_spine_cables + count.spine_core_cables;
    count_modules(tree, count);

    if (tree.planes > 1) {
        count.notes.emplace_back("planes are joined only through the node: no path between them");
    }
    if (count.layers == kMostLayers &&
        !(std::has_single_bit(static_cast<std::uint64_t>(count.leaf)) &&
          std::has_single_bit(static_cast<unsigned>(tree.radix)))) {
        count.notes.emplace_back(
            "three layers are checked against published tables at full powers of two only");
    }
    return count;
}

}  // namespace assay::plan
