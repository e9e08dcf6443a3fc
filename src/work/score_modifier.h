// What is done to the scaled scores of attention before the softmax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::work {

// In this order: cap, then ALiBi, then bias.
//     s = cap tanh(s / cap)                 (soft cap: Gemma 2, arXiv 2408.00118)
//     s = s - slope(h) |position(i) - j|    (ALiBi: arXiv 2108.12409)
//     s = s + bias[h, i, j]                 (the problem's type; the same for the whole batch)
struct ScoreModifier {
    double soft_cap = 0;  // 0: none
    bool alibi = false;
    bool bias = false;

    bool is_none() const { return soft_cap == 0 && !alibi && !bias; }
    bool operator==(const ScoreModifier&) const = default;
};

// Kernels compute in fp32, which then holds the cap to base 2 and a scale over it too; see
// work::validate().
inline constexpr double kLeastSoftCap = 1e-20, kMostSoftCap = 1e20;

// Throws UsageError for a cap outside of that.
void validate(const ScoreModifier& modifier);

// "none", or softcap:C, alibi and bias joined by +. Throws UsageError.
ScoreModifier parse_score_modifier(std::string_view text);
std::string name(const ScoreModifier& modifier);

// 2^(-8 (head + 1) / heads). Of a power of two heads it is ALiBi's own series, and for others what
// FlexAttention's published example takes.
double alibi_slope(std::int64_t head, std::int64_t heads);

}  // namespace assay::work
