#include <algorithm>
#include <array>

#include "base/text.h"
#include "probes/gemm.h"
#include "probes/memory.h"
#include "probes/probe.h"
#include "probes/selftest.h"

namespace assay::probes {

std::span<const Probe* const> all_probes() {
    static const GemmProbe gemm;
    static const MemoryProbe memory;
    static const SelftestProbe selftest;
    static const std::array<const Probe*, 3> probes{&gemm, &memory, &selftest};
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
