#include "cpu/topology.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <hwloc.h>

#include "base/error.h"

namespace assay::cpu {

struct Topology::Handle {
    hwloc_topology_t topology = nullptr;
    ~Handle() {
        if (topology != nullptr) hwloc_topology_destroy(topology);
    }
};

namespace {

std::vector<int> members(hwloc_const_bitmap_t set) {
    std::vector<int> result;
    for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) {
        result.push_back(i);
    }
    return result;
}

std::vector<Core> read_cores(hwloc_topology_t topology) {
    std::vector<Core> cores;
    hwloc_obj_t object = nullptr;
    while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, object)) != nullptr) {
        const int node = hwloc_bitmap_first(object->nodeset);
        cores.push_back({members(object->cpuset), std::max(node, 0)});
    }
    if (!cores.empty()) return cores;
    // Some virtual machines tell only hardware threads.
    while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, object)) != nullptr) {
        cores.push_back(
            {members(object->cpuset), std::max(hwloc_bitmap_first(object->nodeset), 0)});
    }
    return cores;
}

std::vector<record::CacheFacts> read_caches(hwloc_topology_t topology) {
    std::vector<record::CacheFacts> caches;
    int level = 0;
    for (const auto type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                            HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
        ++level;
        const hwloc_obj_t first = hwloc_get_obj_by_type(topology, type, 0);
        if (first == nullptr) continue;
        caches.push_back(
            {level, first->attr->cache.size, hwloc_get_nbobjs_by_type(topology, type)});
    }
    return caches;
}

std::vector<record::NodeFacts> read_nodes(hwloc_topology_t topology,
                                          const std::vector<Core>& cores) {
    std::vector<record::NodeFacts> nodes;
    hwloc_obj_t object = nullptr;
    while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr) {
        const int index = static_cast<int>(object->os_index);
        const auto count =
            std::ranges::count_if(cores, [&](const Core& core) { return core.node == index; });
        nodes.push_back({index, object->attr->numanode.local_memory, static_cast<int>(count)});
    }
    return nodes;
}

}  // namespace

Topology::Topology(const std::string& synthetic) : handle_(std::make_unique<Handle>()) {
    const auto check = [](int status) {
        if (status != 0) throw Error(std::string("hwloc: ") + std::strerror(errno));
    };
    check(hwloc_topology_init(&handle_->topology));
    if (!synthetic.empty()) {
        check(hwloc_topology_set_synthetic(handle_->topology, synthetic.c_str()));
    }
    check(hwloc_topology_load(handle_->topology));
    cores_ = read_cores(handle_->topology);
    caches_ = read_caches(handle_->topology);
    nodes_ = read_nodes(handle_->topology, cores_);
    packages_ = std::max(1, hwloc_get_nbobjs_by_type(handle_->topology, HWLOC_OBJ_PACKAGE));
}

Topology::~Topology() = default;

void Topology::bind_memory(void* address, std::size_t bytes, int node) const {
    const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> set(hwloc_bitmap_alloc(),
                                                                        hwloc_bitmap_free);
    hwloc_bitmap_only(set.get(), static_cast<unsigned>(node));
    if (hwloc_set_area_membind(handle_->topology, address, bytes, set.get(), HWLOC_MEMBIND_BIND,
                               HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT) != 0) {
        throw Error("can't bind memory to NUMA node " + std::to_string(node) + ": " +
                    std::strerror(errno));
    }
}

std::vector<Core> usable_cores(const Topology& topology, const std::vector<int>& allowed,
                               double quota) {
    std::vector<Core> usable;
    for (const Core& core : topology.cores()) {
        const auto cpu = std::ranges::find_first_of(core.cpus, allowed);
        if (cpu != core.cpus.end()) usable.push_back({{*cpu}, core.node});
    }
    if (quota > 0) {
        const auto most = std::max<std::size_t>(1, static_cast<std::size_t>(quota));
        if (usable.size() > most) usable.resize(most);
    }
    return usable;
}

}  // namespace assay::cpu
