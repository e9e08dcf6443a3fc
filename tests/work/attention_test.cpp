#include "work/attention.h"

#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/expect_error.h"

namespace assay::work {
namespace {

using testing::ElementsAre;
using T = AttentionTensor;
constexpr std::array<T, 5> kAll{T::q, T::k, T::v, T::o, T::lse};

Attention problem(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t rows,
                  std::int64_t dim, AttentionLayout layout = AttentionLayout::bshd) {
    Attention p;
    p.batch = batch;
    p.heads = heads;
    p.kv_heads = kv_heads;
    p.queries = p.keys = rows;
    p.dim = p.value_dim = dim;
    lay_out(p, layout);
    return p;
}

TEST(Attention, CountsTheFlopOfVisiblePairs) {
    auto p = problem(2, 16, 16, 4096, 128);
    EXPECT_EQ(flop(p, AttentionPass::forward), 4.0 * 2 * 16 * 4096 * 4096 * 128);
    EXPECT_EQ(flop(p, AttentionPass::backward), 2.5 * flop(p, AttentionPass::forward));
    p.mask.causal = true;
    EXPECT_EQ(flop(p, AttentionPass::forward), 4.0 * 2 * 16 * (4096.0 * 4097 / 2) * 128);
    EXPECT_EQ(dense_flop(p, AttentionPass::forward), 4.0 * 2 * 16 * 4096 * 4096 * 128);
    EXPECT_DOUBLE_EQ(density(p), 4097.0 / 8192);
    p.dim = 192;
    EXPECT_EQ(flop(p, AttentionPass::forward), 2.0 * 2 * 16 * (4096.0 * 4097 / 2) * 320);
    EXPECT_EQ(flop(p, AttentionPass::backward), 2.0 * 2 * 16 * (4096.0 * 4097 / 2) * 832);
}

TEST(Attention, CountsRaggedEntriesByTheirOwnLengths) {
    auto p = problem(3, 2, 1, 8, 4);
    p.query_lengths = {8, 0, 3};
    p.key_lengths = {8, 5, 2};
    lay_out(p, AttentionLayout::bshd);
    validate(p);
    EXPECT_EQ(all_pairs(p), 64 + 0 + 6);
    p.mask.causal = true;
    EXPECT_EQ(visible_pairs(p), 36 + 0 + 1 + 2 + 2);
    EXPECT_EQ(elements(p, T::q), 11 * 2 * 4);
    EXPECT_EQ(elements(p, T::k), 15 * 4);
}

TEST(Attention, CountsBytesReadAndWrittenOnce) {
    auto p = problem(1, 4, 2, 10, 8);
    p.value_dim = 6;
    lay_out(p, AttentionLayout::bshd);
    const std::uint64_t q = 4 * 10 * 8, k = 2 * 10 * 8, v = 2 * 10 * 6, o = 4 * 10 * 6, lse = 40;
    EXPECT_EQ(bytes(p, AttentionPass::forward), 2 * (q + k + v + o) + 4 * lse);
    EXPECT_EQ(bytes(p, AttentionPass::backward), 2 * 2 * (q + k + v + o) + 4 * lse);
    p.modifier.bias = true;
    EXPECT_EQ(bytes(p, AttentionPass::forward), 2 * (q + k + v + o + 4 * 100) + 4 * lse);
}

// Every row has its own place, within the extent, in every layout.
TEST(Attention, RowsHaveTheirOwnPlace) {
    for (const auto layout :
         {AttentionLayout::bhsd, AttentionLayout::bshd, AttentionLayout::packed}) {
        auto p = problem(2, 4, 2, 5, 3);
        p.value_dim = 2;
        if (layout != AttentionLayout::packed) p.keys = 7;
        lay_out(p, layout);
        validate(p);
        for (const auto tensor : kAll) {
            std::set<std::int64_t> places;
            const auto rows = is_of_queries(tensor) ? p.queries : p.keys;
            for (std::int64_t b = 0; b < p.batch; ++b) {
                for (std::int64_t h = 0; h < heads_of(p, tensor); ++h) {
                    for (std::int64_t r = 0; r < rows; ++r) {
                        for (std::int64_t d = 0; d < width_of(p, tensor); ++d) {
                            const auto at = position(p, tensor, b, h, r) + d;
                            EXPECT_TRUE(places.insert(at).second);
                            EXPECT_LT(at, extent(p, tensor));
                        }
                    }
                }
            }
            EXPECT_EQ(static_cast<std::int64_t>(places.size()), elements(p, tensor));
            EXPECT_EQ(*places.rbegin() + 1, extent(p, tensor));
        }
    }
}

TEST(Attention, PackedTensorsShareABufferWithoutOverlapping) {
    const auto p = problem(2, 4, 2, 5, 3, AttentionLayout::packed);
    const std::int64_t row = (4 + 2 + 2) * 3;
    EXPECT_EQ(p.of(T::q).row, row);
    EXPECT_EQ(p.of(T::v).row, row);
    EXPECT_EQ(p.of(T::k).batch, 5 * row);
    EXPECT_EQ(p.of(T::k).head, 3);
    EXPECT_EQ(p.of(T::o).row, 12);
    EXPECT_EQ(p.of(T::lse), (AttentionStrides{20, 5, 1}));
}

TEST(Attention, PackedTokensHaveAsManyKeysAsQueries) {
    auto p = problem(2, 4, 2, 5, 3);
    p.keys = 6;
    expect_error<UsageError>([&] { lay_out(p, AttentionLayout::packed); },
                             "layout packed with 5 queries and 6 keys", "as many");
}

TEST(Attention, LogSumExpOfDocumentsLiesByToken) {
    auto p = problem(2, 4, 2, 5, 3);
    p.mask.documents = {2, 3};
    lay_out(p, AttentionLayout::bshd);
    EXPECT_EQ(p.of(T::lse), (AttentionStrides{20, 1, 4}));
    lay_out(p, AttentionLayout::bhsd);
    EXPECT_EQ(p.of(T::lse), (AttentionStrides{20, 5, 1}));
}

TEST(Attention, RaggedEntriesLieBackToBack) {
    auto p = problem(3, 2, 1, 8, 4);
    p.query_lengths = p.key_lengths = {8, 0, 3};
    lay_out(p, AttentionLayout::bshd);
    EXPECT_EQ(p.of(T::q).batch, 0);
    EXPECT_EQ(position(p, T::q, 2, 1, 0), 8 * 8 + 4);
    EXPECT_EQ(position(p, T::lse, 2, 1, 1), 9 * 2 + 1);
    EXPECT_EQ(extent(p, T::q), 11 * 8);
    EXPECT_THAT(starts(p, T::q), ElementsAre(0, 8 * 8, 8 * 8));
    EXPECT_THAT(starts(p, T::lse), ElementsAre(0, 8 * 2, 8 * 2));
    EXPECT_THROW(lay_out(p, AttentionLayout::bhsd), UsageError);
    // Each in its own place, the first rows counting.
    p.of(T::q).batch = 64;
    EXPECT_EQ(position(p, T::q, 2, 1, 0), 2 * 64 + 4);
    EXPECT_THAT(starts(p, T::q), ElementsAre(0, 64, 2 * 64));
}

TEST(Attention, HeadsShareKeysInGroups) {
    const auto p = problem(1, 6, 2, 4, 4);
    EXPECT_EQ(kv_head_of(p, 2), 0);
    EXPECT_EQ(kv_head_of(p, 3), 1);
    EXPECT_DOUBLE_EQ(scale_of(p), 0.5);
}

TEST(Attention, SaysWhatIsWrong) {
    const auto refused = [](auto change, const char* what, const char* hint) {
        auto p = problem(2, 4, 2, 8, 4);
        change(p);
        expect_error<UsageError>([&] { validate(p); }, what, hint);
    };
    validate(problem(2, 4, 2, 8, 4));
    refused([](Attention& p) { p.kv_heads = 3; }, "3 kv-heads don't divide 4 heads", "equally");
    refused([](Attention& p) { p.queries = 0; },
            "attention with queries 0: must be 1 to 2147483647", "range");
    refused([](Attention& p) { p.dim = std::int64_t{1} << 31; },
            "attention with dim 2147483648: must be 1 to 2147483647", "range");
    refused([](Attention& p) { p.type = Type::int8; }, "attention in int8 isn't known", "bf16");
    for (const auto& [scale, text] :
         {std::pair(std::numeric_limits<double>::infinity(), "inf"), std::pair(std::nan(""), "nan"),
          std::pair(-1e39, "-1e+39"), std::pair(1e-50, "1e-50")}) {
        const auto what =
            fmt::format("attention with a scale of {}: its size must be 0 or 1e-16 to 1e+16", text);
        refused([scale = scale](Attention& p) { p.scale = scale; }, what.c_str(), "1/sqrt(dim)");
    }
    refused([](Attention& p) { p.modifier.soft_cap = 1e-50; },
            "modifier softcap:1e-50 isn't within 1e-20 .. 1e+20", "softcap:50");
    refused(
        [](Attention& p) {
            p.query_lengths = {1, 2};
        },
        "ragged lengths of queries or of keys alone", "give both");
    refused([](Attention& p) { p.query_lengths = p.key_lengths = {1}; },
            "1 ragged lengths for a batch of 2", "one an entry");
    refused(
        [](Attention& p) {
            p.query_lengths = p.key_lengths = {1, 9};
        },
        "a ragged length of 9 outside 0 .. 8", "longest");
    refused(
        [](Attention& p) {
            p.query_lengths = p.key_lengths = {1, 2};
            p.modifier.bias = true;
        },
        "ragged lengths with documents, blocks or a bias", "equal lengths");
    refused([](Attention& p) { p.mask.documents = {3}; },
            "documents of 3 tokens in all don't cover a sequence of 8", "add up");
    constexpr const char* kOverlap = "strides under which rows of attention overlap";
    refused([](Attention& p) { p.of(T::q).row = 3; }, kOverlap, "lay_out()");
    refused([](Attention& p) { p.of(T::k).batch = 16; }, kOverlap, "lay_out()");
    refused([](Attention& p) { p.queries = p.keys = p.batch = 2147483647; },
            "attention that takes over 2^62 bytes", "smaller");
}

TEST(Attention, NamesAreReadBack) {
    for (const auto layout :
         {AttentionLayout::bhsd, AttentionLayout::bshd, AttentionLayout::packed}) {
        EXPECT_EQ(parse_attention_layout(name(layout)), layout);
    }
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        EXPECT_EQ(parse_attention_pass(name(pass)), pass);
    }
    EXPECT_THROW(parse_attention_pass("sideways"), UsageError);
}

}  // namespace
}  // namespace assay::work
