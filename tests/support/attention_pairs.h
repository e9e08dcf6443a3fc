// Do problems of attention try every pair of what they differ in? A fault that needs two things at
// once, as a mask and a layout, is found only where some problem has both.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "work/attention.h"

namespace assay::work {

// What a problem has of each thing, which may be several: "softcap:3+alibi" is two modifiers.
using AttentionTraits = std::vector<std::set<std::string>>;

// All there is: kinds of masks, modifiers, query heads of a key head, lengths, layouts, types,
// passes and dims.
inline const AttentionTraits& known_traits() {
    static const AttentionTraits known{
        {"full", "causal", "bottom-right", "window", "causal window", "prefix", "document",
         "blocks"},
        {"unmodified", "softcap", "alibi", "bias"},
        {"own keys", "keys of a group", "keys of all"},
        {"whole tiles", "one query", "odd", "prime", "fewer keys", "more keys"},
        {"bhsd", "bshd", "packed"},
        {"fp32", "bf16", "fp16"},
        {"forward", "backward"},
        {"equal dims", "odd dims", "narrower values", "wider values"}};
    return known;
}

inline bool is_prime(std::int64_t n) {
    for (std::int64_t i = 2; i * i <= n; ++i) {
        if (n % i == 0) return false;
    }
    return n > 1;
}

inline AttentionTraits traits_of(const Attention& p, AttentionLayout layout,
                                 const std::vector<AttentionPass>& passes) {
    AttentionTraits traits(known_traits().size());
    const auto note = [&](std::size_t thing, const char* trait, bool has) {
        if (has) traits[thing].insert(trait);
    };
    const auto& mask = p.mask;
    const bool banded = mask.window > 0, plain = !banded && mask.prefix == 0;
    note(0, "full", mask.is_full());
    note(0, "causal", mask.causal && plain && mask.alignment == Alignment::top_left);
    note(0, "bottom-right", mask.causal && mask.alignment == Alignment::bottom_right);
    note(0, "window", banded && !mask.causal);
    note(0, "causal window", banded && mask.causal);
    note(0, "prefix", mask.prefix > 0);
    note(0, "document", !mask.documents.empty());
    note(0, "blocks", !mask.blocks.empty());
    const auto modifier = name(p.modifier);
    note(1, "unmodified", modifier == "none");
    for (const char* rule : {"softcap", "alibi", "bias"}) {
        note(1, rule, modifier.find(rule) != std::string::npos);
    }
    note(2, "own keys", p.heads == p.kv_heads);
    note(2, "keys of a group", p.kv_heads > 1 && p.heads > p.kv_heads);
    note(2, "keys of all", p.kv_heads == 1 && p.heads > 1);
    note(3, "whole tiles", p.queries % 64 == 0 && p.keys % 64 == 0);
    note(3, "one query", p.queries == 1);
    note(3, "odd", p.queries % 2 == 1 && p.queries > 1);
    note(3, "prime", p.queries > 2 && is_prime(p.queries));
    note(3, "fewer keys", p.keys < p.queries);
    note(3, "more keys", p.keys > p.queries);
    traits[4].insert(std::string(name(layout)));
    traits[5].insert(std::string(name(p.type)));
    for (const auto pass : passes) traits[6].insert(std::string(name(pass)));
    note(7, "equal dims", p.dim == p.value_dim && p.dim % 8 == 0);
    note(7, "odd dims", p.dim % 2 == 1);
    note(7, "narrower values", p.value_dim < p.dim);
    note(7, "wider values", p.value_dim > p.dim);
    return traits;
}

// Packed tokens, and those of documents, have as many queries as keys.
inline bool can_exist(const std::string& a, const std::string& b) {
    const auto is = [&](const char* trait) { return a == trait || b == trait; };
    return !((is("packed") || is("document")) && (is("fewer keys") || is("more keys")));
}

// "causal with packed" for each pair that can exist and none of the problems has.
inline std::vector<std::string> missing_pairs(const std::vector<AttentionTraits>& problems) {
    std::vector<std::string> missing;
    const auto& known = known_traits();
    for (std::size_t i = 0; i < known.size(); ++i) {
        for (std::size_t j = i + 1; j < known.size(); ++j) {
            for (const auto& a : known[i]) {
                for (const auto& b : known[j]) {
                    bool tried = !can_exist(a, b);
                    for (const auto& one : problems) {
                        tried = tried || (one[i].contains(a) && one[j].contains(b));
                    }
                    if (!tried) missing.push_back(a + " with " + b);
                }
            }
        }
    }
    return missing;
}

}  // namespace assay::work
