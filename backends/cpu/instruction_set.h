// Which of several instruction sets that code was compiled for is to run.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace assay::cpu {

struct InstructionSet {
    std::string_view name;  // "baseline", "avx2", "avx512"
    bool runs;              // on this processor and system
};

// The index of the first that runs.
std::size_t best_instruction_set(std::span<const InstructionSet> best_first);

// The best, or the one that ASSAY_CPU_ISA names. Throws UsageError for an unknown name and
// Unsupported for one that the processor can't run.
std::size_t chosen_instruction_set(std::span<const InstructionSet> best_first);

}  // namespace assay::cpu
