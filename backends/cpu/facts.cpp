#include "cpu/facts.h"

#include <map>
#include <string>

#include "base/units.h"
#include "cpu/affinity.h"
#include "cpu/cgroup.h"
#include "cpu/memory_limit.h"
#include "cpu/processor.h"
#include "cpu/smbios.h"

namespace assay::cpu {

std::vector<Core> usable_cores(const Topology& topology) {
    return usable_cores(topology, thread_affinity(), read_cgroup_limits().cpus.value_or(0));
}

record::DeviceFacts read_facts(const Topology& topology, const std::vector<Core>& usable,
                               const std::filesystem::path& root) {
    record::DeviceFacts facts;
    facts.id = facts.kind = "cpu";
    const Processor processor = read_processor(root);
    facts.name = processor.name.empty() ? "unknown processor" : processor.name;
    facts.vendor = processor.vendor;
    facts.virtual_machine = processor.virtual_machine;
    facts.features = processor.features;
    facts.compute_units = static_cast<int>(usable.size());
    facts.compute_units_total = static_cast<int>(topology.cores().size());
    facts.memory_bytes = memory_state(root).total;
    facts.caches = topology.caches();
    facts.nodes = topology.nodes();
    if (!facts.caches.empty()) {
        const record::CacheFacts& last = facts.caches.back();
        facts.last_level_cache_bytes = last.bytes * static_cast<std::uint64_t>(last.instances);
    }
    const MaxClock clock = read_max_clock(root, cpuid_max_mhz());
    facts.max_clock_mhz = clock.mhz;
    facts.max_clock_source = clock.source;

    facts.facts = read_settings(root);
    facts.facts.merge(read_memory_facts(root));
    const std::map<std::string, std::string> identity{{"family", processor.family},
                                                      {"model", processor.model},
                                                      {"stepping", processor.stepping},
                                                      {"microcode", processor.microcode}};
    for (const auto& [name, value] : identity) {
        if (!value.empty()) facts.facts[name] = value;
    }
    std::size_t threads = 0;
    for (const Core& core : topology.cores()) threads += core.cpus.size();
    facts.facts["hardware_threads"] = std::to_string(threads);
    facts.facts["packages"] = std::to_string(topology.packages());
    if (const auto quota = read_cgroup_limits(root).cpus) {
        facts.facts["cpu_quota"] = format_number(*quota);
    }
    return facts;
}

}  // namespace assay::cpu
