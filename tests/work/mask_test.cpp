#include "work/mask.h"

#include <functional>

#include <gtest/gtest.h>

#include "base/expect_error.h"

namespace assay::work {
namespace {

using Sees = std::function<bool(std::int64_t i, std::int64_t j)>;

void expect_sees(std::string_view text, std::int64_t queries, std::int64_t keys, const Sees& sees) {
    const auto mask = parse_mask(text, queries, keys);
    const MaskRows rows(mask, queries, keys);
    std::int64_t pairs = 0;
    for (std::int64_t i = 0; i < queries; ++i) {
        const auto seen = rows.seen(i);
        std::int64_t last = -1;
        for (const auto& span : seen) {
            EXPECT_GT(span.lo, last) << text << " row " << i;  // apart, or they would be one
            EXPECT_GT(span.size(), 0);
            last = span.hi;
        }
        for (std::int64_t j = 0; j < keys; ++j) {
            ASSERT_EQ(rows.sees(i, j), sees(i, j)) << text << " (" << i << ", " << j << ')';
            const bool in_span = std::ranges::any_of(
                seen, [&](const KeySpan& span) { return j >= span.lo && j < span.hi; });
            ASSERT_EQ(in_span, sees(i, j)) << text << " (" << i << ", " << j << ')';
            pairs += sees(i, j) ? 1 : 0;
        }
    }
    EXPECT_EQ(visible_pairs(mask, queries, keys), pairs) << text;
    EXPECT_EQ(parse_mask(name(mask), queries, keys), mask) << text;
}

TEST(Mask, FullHidesNothing) {
    expect_sees("full", 5, 7, [](auto, auto) { return true; });
    EXPECT_TRUE(parse_mask("full", 5, 7).is_full());
}

TEST(Mask, CausalStandsAtTheFirstKeyOrTheLast) {
    for (const auto& [queries, keys] : {std::pair{6, 6}, {3, 8}, {8, 3}, {1, 9}}) {
        expect_sees("causal", queries, keys, [](auto i, auto j) { return j <= i; });
        const auto shift = keys - queries;
        expect_sees("causal:bottom-right", queries, keys,
                    [=](auto i, auto j) { return j <= i + shift; });
    }
}

TEST(Mask, AWindowCountsTheQuerysOwnKey) {
    for (const std::int64_t w : {1, 2, 3, 100}) {
        const auto text = "causal+window:" + std::to_string(w);
        expect_sees(text, 9, 9, [=](auto i, auto j) { return j <= i && j > i - w; });
        expect_sees(text, 4, 9, [=](auto i, auto j) { return j <= i && j > i - w; });
        expect_sees("causal:bottom-right+window:" + std::to_string(w), 4, 9,
                    [=](auto i, auto j) { return j <= i + 5 && j > i + 5 - w; });
        expect_sees("window:" + std::to_string(w), 9, 9,
                    [=](auto i, auto j) { return j < i + w && j > i - w; });
    }
}

TEST(Mask, ARowOfAWindowHasExactlyThatManyKeys) {
    const auto mask = parse_mask("causal+window:4", 20, 20);
    const MaskRows rows(mask, 20, 20);
    EXPECT_EQ(rows.spans(10)[1], (KeySpan{7, 11}));
    EXPECT_EQ(rows.spans(2)[1], (KeySpan{0, 3}));
}

TEST(Mask, APrefixIsSeenByAll) {
    expect_sees("causal+prefix:4", 9, 9, [](auto i, auto j) { return j <= i || j < 4; });
    expect_sees("causal+prefix:4", 3, 9, [](auto i, auto j) { return j <= i || j < 4; });
    expect_sees("causal+prefix:40", 9, 9, [](auto, auto) { return true; });
    expect_sees("causal+window:2+prefix:3", 9, 9,
                [](auto i, auto j) { return (j <= i && j > i - 2) || j < 3; });
    expect_sees("causal:bottom-right+prefix:2", 9, 4,
                [](auto i, auto j) { return j <= i - 5 || j < 2; });
}

TEST(Mask, DocumentsAreKeptApart) {
    const auto document = [](std::int64_t i) { return i < 3 ? 0 : i < 4 ? 1 : 2; };
    const auto same = [=](auto i, auto j) { return document(i) == document(j); };
    expect_sees("document:3/1/5", 9, 9, same);
    expect_sees("causal+document:3/1/5", 9, 9,
                [=](auto i, auto j) { return same(i, j) && j <= i; });
    expect_sees("causal+window:2+prefix:1+document:3/1/5", 9, 9,
                [=](auto i, auto j) { return same(i, j) && ((j <= i && j > i - 2) || j < 1); });
}

TEST(Mask, DocumentsEvenAndSkewed) {
    using Lengths = std::vector<std::int64_t>;
    EXPECT_EQ(parse_mask("document:even:4", 16, 16).documents, (Lengths{4, 4, 4, 4}));
    EXPECT_EQ(parse_mask("document:even:3", 16, 16).documents, (Lengths{5, 5, 6}));
    EXPECT_EQ(parse_mask("document:skewed:4", 30, 30).documents, (Lengths{2, 4, 8, 16}));
    EXPECT_EQ(parse_mask("document:skewed:4", 15, 15).documents, (Lengths{1, 2, 4, 8}));
    EXPECT_EQ(parse_mask("document:skewed:4", 10, 10).documents, (Lengths{1, 1, 2, 6}));
    EXPECT_THROW(parse_mask("document:skewed:5", 4, 4), UsageError);
    EXPECT_EQ(parse_mask("document:skewed:1", 10, 10).documents, Lengths{10});
}

// What torch's FlexAttention was measured on: 16,384 tokens.
TEST(Mask, DensitiesOfKnownMasks) {
    constexpr std::int64_t n = 16384;
    const auto density = [](std::string_view text) {
        return static_cast<double>(visible_pairs(parse_mask(text, n, n), n, n)) / (1.0 * n * n);
    };
    EXPECT_NEAR(density("causal+window:4096"), 0.2188, 5e-5);
    EXPECT_NEAR(density("causal+window:1024"), 0.0605, 5e-5);
    EXPECT_NEAR(density("causal+document:even:16"), 0.0313, 5e-5);
    EXPECT_NEAR(density("causal+document:skewed:16"), 0.1667, 5e-5);
    EXPECT_NEAR(density("causal+prefix:4096"), 0.5313, 5e-5);
    EXPECT_EQ(visible_pairs(parse_mask("causal", n, n), n, n), n * (n + 1) / 2);
}

TEST(Mask, BlocksHideWhatTheyDoNotList) {
    const auto sees = [](std::int64_t i, std::int64_t j) {
        const auto row = i / 4, column = j / 4;
        return row == 0 ? column == 0 : row == 1 ? column != 1 : false;
    };
    expect_sees("blocks:4:0/0,2/", 10, 11, sees);
    expect_sees("causal+blocks:4:0/0,2/", 10, 11,
                [=](auto i, auto j) { return sees(i, j) && j <= i; });
    EXPECT_EQ(name(parse_mask("blocks:4:2,0,1/1-2/0", 10, 11)), "blocks:4:0-2/1-2/0");
}

TEST(Mask, SaysWhatIsWrong) {
    const auto refused = [](const char* text, const char* what, const char* hint) {
        expect_error<UsageError>([=] { parse_mask(text, 9, 9); }, what, hint);
    };
    refused("sliding", "unknown mask \"sliding\"", "window:W");
    refused("causal+window:0", "mask window:0 sees no key", "own key");
    refused("causal+window:x", "mask window:x has \"x\" for a count", "window:W");
    refused("causal+window:-1", "mask window:-1 has \"-1\" for a count", "window:W");
    refused("causal:left", "mask causal:left has an unknown alignment", "causal:bottom-right");
    refused("document:3/4", "documents of 7 tokens in all don't cover a sequence of 9", "add up");
    refused("document:0/9", "a document of 0 tokens in a sequence of 9", "add up");
    refused("document:/", "mask document:/ lists no length", "document:L1/L2/...");
    refused("document:even:10", "mask document:even:10 makes no 10 documents of 9 tokens",
            "1 to 9");
    refused("causal+prefix:0", "mask prefix:0 sees no key", "every query");
    refused("window:3+causal+window:5", "mask window:3+causal+window:5 names window twice", "");
    refused("prefix:4", "mask prefix:4 without causal sees every key", "causal+prefix");
    refused("blocks:4:0/1", "a block list of 2 rows for 9 queries in blocks of 4", "give 3 rows");
    refused("blocks:4:0/1/9", "mask blocks has \"9\": key blocks are 0 to 2", "0-3,7");
    refused("blocks:0:0", "mask blocks has blocks of 0 tokens", "blocks:SIZE:ROWS");
    refused("blocks:4", "mask blocks:4 names no list", "blocks:SIZE:ROWS");
    // No file is opened.
    refused("document:list.txt", "mask document has \"list.txt\" for a count", "L1/L2");
    refused("blocks:4:list.txt", "mask blocks has \"list.txt\" for a count", "blocks:SIZE:ROWS");
    expect_error<UsageError>([] { parse_mask("document:3/6", 9, 12); },
                             "documents with 9 queries and 12 keys", "as many");
}

}  // namespace
}  // namespace assay::work
