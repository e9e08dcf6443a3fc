#include "probes/attention_problem.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/range.h"
#include "base/text.h"
#include "base/units.h"
#include "work/attention_tiles.h"

namespace assay::probes {

namespace {

std::string text(std::string_view word) {
    return std::string(word);
}

std::string text(std::int64_t number) {
    return std::to_string(number);
}

}  // namespace

record::Case to_case(const AttentionCase& attention) {
    const auto& p = attention.problem;
    record::Case what;
    what.set("batch", text(p.batch), "1");
    what.set("heads", p.heads);
    what.set("kv_heads", text(p.kv_heads), text(p.heads));
    if (p.ragged()) {
        what.set("lengths", fmt::format("{}", fmt::join(p.query_lengths, "/")));
    } else {
        what.set("seq", p.queries);
        what.set("keys", text(p.keys), text(p.queries));
    }
    what.set("dim", p.dim);
    what.set("value_dim", text(p.value_dim), text(p.dim));
    what.set("dtype", text(work::name(p.type)));
    what.set("mask", attention.mask_words.empty() ? work::name(p.mask) : attention.mask_words,
             "full");
    what.set("modifier", work::name(p.modifier), "none");
    if (p.scale) what.set("scale", exact_number(*p.scale));
    what.set("pass", text(work::name(attention.pass)));
    what.set("layout", text(work::name(attention.layout)), "bshd");
    what.set("inputs", text(work::name(attention.inputs)), "normal");
    what.set("cache", attention.cache == CacheState::cold ? "cold" : "hot", "cold");
    what.set("provider", attention.provider, kAutoProvider);
    // A name for readers: marked as a default, so that it never changes the identity.
    if (!attention.layer.empty()) what.set("layer", attention.layer, attention.layer);
    return what;
}

AttentionCase attention_from_case(const record::Case& what) {
    AttentionCase attention;
    auto& p = attention.problem;
    p.batch = what.integer("batch");
    p.heads = what.integer("heads");
    p.kv_heads = what.integer("kv_heads");
    if (what.has("lengths")) {
        set_lengths(p, parse_lengths(what.at("lengths")));
    } else {
        p.queries = what.integer("seq");
        p.keys = what.integer("keys");
    }
    p.dim = what.integer("dim");
    p.value_dim = what.integer("value_dim");
    p.type = work::parse_type(what.at("dtype"));
    attention.mask_words = what.at("mask");
    p.mask = work::parse_mask(attention.mask_words, p.queries, p.keys);
    p.modifier = work::parse_score_modifier(what.at("modifier"));
    if (what.has("scale")) p.scale = parse_number(what.at("scale"), "scale");
    attention.pass = work::parse_attention_pass(what.at("pass"));
    attention.layout = work::parse_attention_layout(what.at("layout"));
    attention.inputs = work::parse_distribution(what.at("inputs"));
    attention.cache = parse_cache_state(what.at("cache"));
    attention.provider = what.at("provider");
    if (what.has("layer")) attention.layer = what.at("layer");
    work::lay_out(p, attention.layout);
    return attention;
}

std::vector<std::string> parse_mask_list(std::string_view list) {
    std::vector<std::string> masks;
    for (auto& word : parse_words(list, "--mask")) {
        // No mask starts with a digit, and what follows a comma in a list of blocks does.
        if (!masks.empty() && word.front() >= '0' && word.front() <= '9') {
            masks.back() += "," + word;
        } else {
            masks.push_back(std::move(word));
        }
    }
    return masks;
}

std::string mask_words(std::string_view given, const work::Mask& mask) {
    constexpr std::string_view kDocument = "document:";
    for (const auto& rule : split(given, '+')) {
        const bool made =
            rule.starts_with(kDocument) && (rule.compare(kDocument.size(), 5, "even:") == 0 ||
                                            rule.compare(kDocument.size(), 7, "skewed:") == 0);
        if (!made) continue;
        auto band = mask;
        band.documents.clear();
        band.blocks = {};
        auto blocks = work::Mask{};
        blocks.blocks = mask.blocks;
        std::vector<std::string> rules;
        if (band != work::Mask{}) rules.push_back(work::name(band));
        rules.push_back(rule);
        if (!blocks.blocks.empty()) rules.push_back(work::name(blocks));
        return join(rules, "+");
    }
    return work::name(mask);
}

std::vector<std::int64_t> parse_lengths(std::string_view given) {
    constexpr const char* kHint = "write lengths joined by /, as 512/1024/77, or name a file";
    std::vector<std::int64_t> lengths;
    for (const auto& word : split(given, '/')) {
        if (!word.empty()) lengths.push_back(parse_integer(word, "a ragged length"));
    }
    if (lengths.empty() || *std::ranges::max_element(lengths) < 1) {
        throw UsageError(fmt::format("lengths \"{}\" hold no token", given), kHint);
    }
    if (const auto least = *std::ranges::min_element(lengths); least < 0) {
        throw UsageError(fmt::format("a ragged length of {}", least), kHint);
    }
    return lengths;
}

void set_lengths(work::Attention& p, std::vector<std::int64_t> lengths) {
    p.batch = static_cast<std::int64_t>(lengths.size());
    p.queries = p.keys = *std::ranges::max_element(lengths);
    p.query_lengths = lengths;
    p.key_lengths = std::move(lengths);
}

double tile_density(const work::Attention& p) {
    return work::count_tiles(p).density();
}

}  // namespace assay::probes
