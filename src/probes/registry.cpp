#include <algorithm>
#include <array>

#include "base/text.h"
#include "probes/attention.h"
#include "probes/gemm.h"
#include "probes/memory.h"
#include "probes/probe.h"
#include "probes/selftest.h"

namespace assay::probes {

std::span<const Probe* const> all_probes() {
    static const GemmProbe gemm;
    static const MemoryProbe memory;
    static const AttentionProbe attention;
    static const SelftestProbe selftest;
    static const std::array<const Probe*, 4> probes{&gemm, &memory, &attention, &selftest};
    return probes;
}

const Probe& find_probe(std::string_view name) {
    std::vector<std::string> known;
    for (const Probe* probe : all_probes()) {
        if (probe->name() == name) return *probe;
        known.push_back(probe->name());
    }
    throw_unknown("probe", name, known);
}

}  // namespace assay::probes
