#include "cpu/attention_kernels.h"

#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "cpu/instruction_set.h"

namespace assay::cpu {
namespace {

#if defined(__x86_64__)
// clang 16's __builtin_cpu_supports() doesn't know it.
bool has_f16c() {
    unsigned int a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

constexpr std::array kAll{&kAvx512Attention, &kAvx2Attention, &kBaselineAttention};

std::array<InstructionSet, kAll.size()> instruction_sets() {
    const bool avx2 =
        __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && has_f16c();
    return {{{kAvx512Attention.name, __builtin_cpu_supports("avx512f") != 0},
             {kAvx2Attention.name, avx2},
             {kBaselineAttention.name, true}}};
}
#else
constexpr std::array kAll{&kBaselineAttention};

std::array<InstructionSet, kAll.size()> instruction_sets() {
    return {{{kBaselineAttention.name, true}}};
}
#endif

}  // namespace

std::vector<const AttentionKernels*> runnable_attention_kernels() {
    std::vector<const AttentionKernels*> kernels;
    const auto sets = instruction_sets();
    for (std::size_t i = 0; i < kAll.size(); ++i) {
        if (sets[i].runs) kernels.push_back(kAll[i]);
    }
    return kernels;
}

const AttentionKernels& attention_kernels() {
    return *kAll[chosen_instruction_set(instruction_sets())];
}

}  // namespace assay::cpu
