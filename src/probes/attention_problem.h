// An attention problem as a case, and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/matmul_problem.h"
#include "record/case.h"
#include "work/attention.h"
#include "work/fill.h"

namespace assay::probes {

// Of `provider`: the fastest that gives a right answer; all of them compared; else a name.
inline constexpr std::string_view kAutoProvider = "auto", kAllProviders = "all";

struct AttentionCase {
    work::Attention problem;  // laid out by `layout`
    work::AttentionPass pass = work::AttentionPass::forward;
    work::AttentionLayout layout = work::AttentionLayout::bshd;
    work::Distribution inputs = work::Distribution::normal;
    CacheState cache = CacheState::cold;
    std::string provider{kAutoProvider};
    // The problem's mask as the case says it; "": work::name() of it.
    std::string mask_words;
    std::string layer;  // shown, not part of the identity
};

record::Case to_case(const AttentionCase& attention);
// Throws Error for a pair that is missing or malformed.
AttentionCase attention_from_case(const record::Case& what);

// The masks of a comma list, whose block lists may hold commas themselves.
std::vector<std::string> parse_mask_list(std::string_view text);
// `text`, which reads as `mask`, as a case says it: document:even:N and skewed:N as they are, and
// all else as work::name() writes it.
std::string mask_words(std::string_view text, const work::Mask& mask);

// "512/1024/77". Throws UsageError.
std::vector<std::int64_t> parse_lengths(std::string_view text);

// Makes the problem ragged self-attention of these lengths.
void set_lengths(work::Attention& problem, std::vector<std::int64_t> lengths);

// Computed tiles of 128 x 128 over all tiles: the density that a tiled kernel can reach.
double tile_density(const work::Attention& problem);

}  // namespace assay::probes
