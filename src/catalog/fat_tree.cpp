#include "catalog/fat_tree.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::catalog {

namespace {

struct Key {
    const char* name;
    int FatTree::*count;
    bool FatTree::*choice;
    int least, most;
};

constexpr std::array kKeys{
    Key{"layers", &FatTree::layers, nullptr, 0, 3},
    Key{"radix", &FatTree::radix, nullptr, 2, 4096},
    Key{"planes", &FatTree::planes, nullptr, 1, 64},
    Key{"oversubscription", &FatTree::oversubscription, nullptr, 1, 64},
    Key{"unit", &FatTree::unit, nullptr, 0, 4096},
    Key{"management_ports", &FatTree::management_ports, nullptr, 0, 64},
    Key{"links_per_cable", &FatTree::links_per_cable, nullptr, 1, 2},
    Key{"links_per_nic_module", &FatTree::links_per_nic_module, nullptr, 1, 2},
    Key{"links_per_switch_module", &FatTree::links_per_switch_module, nullptr, 1, 2},
    Key{"rail_optimised", nullptr, &FatTree::rail_optimised, 0, 1},
    Key{"copper", nullptr, &FatTree::copper, 0, 1},
    Key{"fill_cages", nullptr, &FatTree::fill_cages, 0, 1},
};

}  // namespace

const std::vector<std::string>& fat_tree_keys() {
    static const auto kNames = [] {
        std::vector<std::string> names;
        for (const auto& key : kKeys) names.emplace_back(key.name);
        return names;
    }();
    return kNames;
}

void set(FatTree& tree, std::string_view key, std::int64_t value) {
    const auto* found = std::ranges::find(kKeys, key, &Key::name);
    if (found == kKeys.end()) throw_unknown("key of a network", key, fat_tree_keys());
    if (value < found->least || value > found->most) {
        throw UsageError(fmt::format("{} {} of a network is out of range", key, value),
                         fmt::format("{} goes from {} to {}", key, found->least, found->most));
    }
    if (found->count != nullptr) {
        tree.*found->count = static_cast<int>(value);
    } else {
        tree.*found->choice = value != 0;
    }
}

}  // namespace assay::catalog
