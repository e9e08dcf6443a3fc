#include "work/score_modifier.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::work {

namespace {

void require_soft_cap(double cap, std::string_view word) {
    if (cap >= kLeastSoftCap && cap <= kMostSoftCap) return;
    throw UsageError(
        fmt::format("modifier {} isn't within {} .. {}", word, kLeastSoftCap, kMostSoftCap),
        "give the largest score: softcap:50");
}

}  // namespace

void validate(const ScoreModifier& modifier) {
    if (modifier.soft_cap != 0) {
        require_soft_cap(modifier.soft_cap, fmt::format("softcap:{}", modifier.soft_cap));
    }
}

ScoreModifier parse_score_modifier(std::string_view text) {
    ScoreModifier modifier;
    if (text == "none") return modifier;
    for (const auto& word : split(text, '+')) {
        constexpr std::string_view kCap = "softcap:";
        if (word.starts_with(kCap)) {
            modifier.soft_cap = parse_number(word.substr(kCap.size()), "softcap");
            require_soft_cap(modifier.soft_cap, word);
        } else if (word == "alibi") {
            modifier.alibi = true;
        } else if (word == "bias") {
            modifier.bias = true;
        } else {
            throw UsageError(fmt::format("unknown modifier {:?}", word),
                             "write none, or softcap:C, alibi and bias joined by +");
        }
    }
    return modifier;
}

std::string name(const ScoreModifier& modifier) {
    std::vector<std::string> words;
    if (modifier.soft_cap != 0) {
        auto number = fmt::format("{}", modifier.soft_cap);
        std::erase(number, '+');  // of an exponent: it would join words
        words.push_back("softcap:" + number);
    }
    if (modifier.alibi) words.emplace_back("alibi");
    if (modifier.bias) words.emplace_back("bias");
    return words.empty() ? "none" : join(words, "+");
}

double alibi_slope(std::int64_t head, std::int64_t heads) {
    return std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(heads));
}

}  // namespace assay::work
