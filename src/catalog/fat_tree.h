// How switches are wired: what plan/network.h counts from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::catalog {

// A folded Clos of equal switches. A link is what one switch port drives; a node (a server, a tray
// of a rack) has `ports` links for each of its NICs' ports.
struct FatTree {
    int layers = 0;  // 1 to 3; 0: the fewest that hold the links
    int radix = 64;  // ports of a switch, at the speed of a link
    int planes = 1;  // independent networks that the links are dealt to: rail-only, multi-plane
    int oversubscription = 1;  // down-links over up-links of a leaf
    int unit = 0;              // nodes that are planned for at once (scalable unit); 0: any number
    int management_ports = 0;  // leaf ports of each plane for its manager (UFM: 4)
    int links_per_cable = 1;  // 2: a NIC port is two links, one to each of two planes, in one cable
    int links_per_nic_module = 1;  // 2: a twin-port module at the NIC, as in DGX H100
    int links_per_switch_module = 2;
    // Rail r of every node of a group on leaf r, so that a rail's traffic in the group is one hop;
    // else leaves are filled one after the other.
    bool rail_optimised = true;
    bool copper = false;      // node to leaf by direct-attach cable, without modules (3 m at most)
    bool fill_cages = false;  // a module in every cage, used or not, as NVIDIA's reference does

    bool operator==(const FatTree&) const = default;
};

// Whole numbers and switches (0 or 1) by name, for files and command lines.
const std::vector<std::string>& fat_tree_keys();
// Throws UsageError for an unknown key or a value out of range.
void set(FatTree& tree, std::string_view key, std::int64_t value);

}  // namespace assay::catalog
