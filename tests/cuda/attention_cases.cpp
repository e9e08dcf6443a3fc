#include "attention_cases.h"

#include <fmt/format.h>

#include "support/attention_cases.h"

namespace assay::cuda {
namespace {

using work::AttentionTensor;
using work::Type;

struct Row {
    const char* mask;
    const char* modifier;
    std::int64_t heads, kv_heads, queries, keys, dim, value_dim;
    work::AttentionLayout layout;
    std::int64_t batch = 1;
    // Unusual ones.
    std::int64_t shift = 0, gap = 0;
    double scale = 1;  // times the usual one
    std::vector<std::int64_t> query_lengths = {}, key_lengths = {};
};

constexpr auto kBhsd = work::AttentionLayout::bhsd;
constexpr auto kBshd = work::AttentionLayout::bshd;
constexpr auto kPacked = work::AttentionLayout::packed;

const std::vector<Row>& rows() {
    static const std::vector<Row> all{
        {"full", "none", 2, 2, 128, 128, 64, 64, kBhsd},
        {"full", "none", 1, 1, 1, 1, 8, 8, kBhsd},
        {"causal", "none", 4, 2, 200, 200, 128, 128, kBshd},
        {"causal:bottom-right", "softcap:2", 3, 1, 131, 67, 72, 72, kBhsd},
        {"causal+window:40", "alibi", 4, 4, 150, 150, 64, 64, kPacked, 2},
        {"window:33", "bias", 2, 1, 97, 193, 128, 64, kBhsd},
        {"causal+prefix:50", "softcap:3+alibi+bias", 2, 2, 160, 160, 64, 128, kBshd},
        {"causal+document:even:3", "none", 4, 1, 190, 190, 40, 40, kPacked},
        {"document:90/1/2/57", "softcap:1.5", 2, 1, 150, 150, 128, 128, kPacked},
        {"blocks:32:0,2/1/0-4/", "none", 2, 2, 100, 130, 128, 128, kBhsd},
        {"causal+blocks:23:0/0-1/1/0,2-3/1-4/5", "alibi+bias", 3, 3, 137, 137, 64, 64, kBshd},
        {"causal:bottom-right", "none", 8, 2, 1, 300, 128, 128, kBhsd, 2},
        {"causal:bottom-right+window:50", "alibi", 4, 2, 70, 190, 64, 64, kBshd},
        {"causal+window:16", "none", 2, 2, 150, 40, 128, 128, kBhsd},
        {"full", "alibi", 2, 1, 127, 131, 128, 128, kBshd},
        {"causal",
         "none",
         4,
         2,
         129,
         200,
         64,
         64,
         kBshd,
         4,
         0,
         0,
         1,
         {70, 0, 129, 1},
         {70, 5, 64, 200}},
        {"causal:bottom-right+window:30",
         "softcap:4",
         2,
         1,
         140,
         140,
         128,
         128,
         kPacked,
         3,
         0,
         0,
         1,
         {140, 33, 64},
         {140, 33, 64}},
        {"causal", "none", 2, 2, 140, 140, 192, 128, kBshd},
        {"causal+window:70", "softcap:2+alibi", 2, 1, 90, 90, 192, 128, kPacked},
        {"causal", "softcap:2", 2, 1, 90, 90, 256, 256, kBhsd},
        {"causal", "none", 2, 1, 70, 80, 576, 512, kBshd},
        {"full", "bias", 1, 1, 65, 66, 264, 136, kBhsd},
        // What no vector load takes: addresses, strides and sizes of heads.
        {"causal", "none", 2, 1, 70, 70, 64, 64, kBhsd, 1, 1},
        {"causal", "alibi", 2, 1, 70, 70, 64, 64, kBhsd, 1, 2, 3},
        {"causal+window:9", "none", 2, 1, 70, 70, 41, 13, kBhsd, 2, 0, 0},
        {"full", "softcap:2", 2, 1, 70, 40, 130, 67, kBshd, 1, 0, 1},
        {"causal", "none", 2, 2, 80, 80, 64, 64, kBshd, 2, 8, 8},
        // Where the largest product isn't the largest score.
        {"causal", "none", 2, 1, 80, 80, 64, 64, kBhsd, 1, 0, 0, -1},
        {"full", "none", 2, 1, 80, 80, 128, 128, kBhsd, 1, 0, 0, 0},
        {"full", "none", 2, 1, 80, 80, 128, 128, kBhsd, 1, 0, 0, 8},
    };
    return all;
}

const std::vector<Row>& kernel_rows() {
    static const std::vector<Row> all{
        {"causal", "none", 2, 2, 70, 70, 64, 64, kBshd},
        {"causal", "none", 2, 2, 70, 70, 128, 128, kBshd},
        {"causal", "none", 6, 1, 40, 40, 64, 64, kBshd},
        {"causal", "none", 6, 1, 40, 40, 128, 128, kBshd},
        {"causal", "none", 1, 1, 70, 70, 192, 128, kBshd},
        {"causal", "none", 1, 1, 70, 70, 264, 136, kBshd},
    };
    return all;
}

// Of a Row or a PairCase.
template <class Case>
std::string name_of(const Case& one, Type type) {
    return fmt::format("{} {} {} {}/{} {}x{} {}/{} {}", work::name(type), one.mask, one.modifier,
                       one.heads, one.kv_heads, one.queries, one.keys, one.dim, one.value_dim,
                       work::name(one.layout));
}

// Lets `gap` elements lie between rows, heads and entries.
void widen(work::Attention& p, AttentionTensor tensor, std::int64_t gap) {
    auto& strides = p.of(tensor);
    const auto heads = work::heads_of(p, tensor);
    const auto rows = work::is_of_queries(tensor) ? p.queries : p.keys;
    if (strides.head > strides.row) {
        strides.row += gap;
        strides.head = rows * strides.row + gap;
        strides.batch = heads * strides.head + gap;
    } else {
        strides.head += gap;
        strides.row = heads * strides.head + gap;
        strides.batch = rows * strides.row + gap;
    }
}

std::vector<AttentionCase> cases_of(const std::vector<Row>& rows, Type type) {
    std::vector<AttentionCase> cases;
    for (const auto& row : rows) {
        work::Attention p;
        p.batch = row.batch;
        p.heads = row.heads;
        p.kv_heads = row.kv_heads;
        p.queries = row.queries;
        p.keys = row.keys;
        p.dim = row.dim;
        p.value_dim = row.value_dim;
        p.type = type;
        p.mask = work::parse_mask(row.mask, row.queries, row.keys);
        p.modifier = work::parse_score_modifier(row.modifier);
        p.query_lengths = row.query_lengths;
        p.key_lengths = row.key_lengths;
        if (row.scale != 1) p.scale = row.scale * work::scale_of(p);
        work::lay_out(p, row.layout);
        if (row.gap > 0) {
            for (int t = 0; t < work::kAttentionTensors; ++t) {
                widen(p, static_cast<AttentionTensor>(t), row.gap);
            }
        }
        cases.push_back({name_of(row, type) + (row.query_lengths.empty() ? "" : " ragged") +
                             (row.shift + row.gap > 0 ? " odd strides" : ""),
                         p, row.layout, row.shift});
    }
    return cases;
}

}  // namespace

std::vector<AttentionCase> attention_cases(Type type) {
    return cases_of(rows(), type);
}

std::vector<AttentionCase> kernel_cases(Type type) {
    return cases_of(kernel_rows(), type);
}

std::vector<AttentionCase> device_cases(Type type) {
    auto cases = attention_cases(type);
    for (auto pair : work::pair_cases()) {
        pair.type = type;
        cases.push_back({name_of(pair, type), pair.problem(), pair.layout});
    }
    return cases;
}

}  // namespace assay::cuda
