#include "cpu/instruction_set.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace assay::cpu {

std::size_t best_instruction_set(std::span<const InstructionSet> best_first) {
    std::size_t index = 0;
    while (!best_first[index].runs) ++index;
    return index;
}

std::size_t chosen_instruction_set(std::span<const InstructionSet> best_first) {
    const char* asked = std::getenv("ASSAY_CPU_ISA");
    if (asked == nullptr || *asked == '\0') return best_instruction_set(best_first);
    std::vector<std::string> known;
    for (std::size_t i = 0; i < best_first.size(); ++i) {
        if (best_first[i].name == asked) {
            if (best_first[i].runs) return i;
            throw Unsupported(std::string("this processor has no ") + asked + " (ASSAY_CPU_ISA)",
                              "unset ASSAY_CPU_ISA");
        }
        known.emplace_back(best_first[i].name);
    }
    throw_unknown("ASSAY_CPU_ISA", asked, known);
}

}  // namespace assay::cpu
