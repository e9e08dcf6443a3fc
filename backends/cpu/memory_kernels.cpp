#include "cpu/memory_kernels.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace assay::cpu {
namespace {

struct Choice {
    const MemoryKernels* kernels;
    bool runs;  // on this processor and system
};

// Best first.
std::vector<Choice> choices() {
    return {
#if defined(__x86_64__)
        {&kAvx512Kernels, __builtin_cpu_supports("avx512f") != 0},
            {&kAvx2Kernels, __builtin_cpu_supports("avx2") != 0},
#endif
            {&kBaselineKernels, true},
    };
}

}  // namespace

const MemoryKernels& best_memory_kernels() {
    for (const Choice& choice : choices()) {
        if (choice.runs) return *choice.kernels;
    }
    return kBaselineKernels;
}

const MemoryKernels& memory_kernels() {
    const char* asked = std::getenv("ASSAY_CPU_ISA");
    if (asked == nullptr || *asked == '\0') return best_memory_kernels();
    std::vector<std::string> known;
    for (const Choice& choice : choices()) {
        if (choice.kernels->name == asked) {
            if (choice.runs) return *choice.kernels;
            throw Unsupported(std::string("this processor has no ") + asked + " (ASSAY_CPU_ISA)",
                              "unset ASSAY_CPU_ISA");
        }
        known.emplace_back(choice.kernels->name);
    }
    throw_unknown("ASSAY_CPU_ISA", asked, known);
}

}  // namespace assay::cpu
