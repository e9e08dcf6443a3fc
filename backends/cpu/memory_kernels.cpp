#include "cpu/memory_kernels.h"

#include <array>

#include "cpu/instruction_set.h"

namespace assay::cpu {
namespace {

#if defined(__x86_64__)
constexpr std::array kAll{&kAvx512Kernels, &kAvx2Kernels, &kBaselineKernels};

std::array<InstructionSet, kAll.size()> instruction_sets() {
    return {{{kAvx512Kernels.name, __builtin_cpu_supports("avx512f") != 0},
             {kAvx2Kernels.name, __builtin_cpu_supports("avx2") != 0},
             {kBaselineKernels.name, true}}};
}
#else
constexpr std::array kAll{&kBaselineKernels};

std::array<InstructionSet, kAll.size()> instruction_sets() {
    return {{{kBaselineKernels.name, true}}};
}
#endif

}  // namespace

const MemoryKernels& best_memory_kernels() {
    return *kAll[best_instruction_set(instruction_sets())];
}

const MemoryKernels& memory_kernels() {
    return *kAll[chosen_instruction_set(instruction_sets())];
}

}  // namespace assay::cpu
