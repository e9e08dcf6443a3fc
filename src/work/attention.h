// Scaled dot-product attention: what is computed, and its exact cost.
//
//     s[i, j] = modifier(scale q[i] . k[j])      where the mask lets query i see key j
//     lse[i]  = log(sum over j of exp(s[i, j]))
//     p[i, j] = exp(s[i, j] - lse[i])
//     o[i]    = sum over j of p[i, j] v[j]
// for each entry of the batch and each head; query head h reads key/value head h / (heads /
// kv_heads). A row that sees no key has o = 0, lse = -infinity, and gives and gets no gradient.
// Backward, of the loss's gradient d_o:
//     delta[i] = d_o[i] . o[i]
//     ds[i, j] = p[i, j] (d_o[i] . v[j] - delta[i]) modifier'(s)
//     d_q[i] = scale sum ds[i, j] k[j],   d_k[j] = scale sum ds[i, j] q[i],   d_v[j] = sum p d_o[i]
// with d_k and d_v summed over the heads that share them too (arXiv 2205.14135).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "work/mask.h"
#include "work/score_modifier.h"
#include "work/type.h"

namespace assay::work {

enum class AttentionPass { forward, backward };
std::string_view name(AttentionPass pass);
AttentionPass parse_attention_pass(std::string_view word);  // throws UsageError

// A gradient lies as its tensor does. lse is fp32, all others are of the problem's type.
enum class AttentionTensor { q, k, v, o, lse };
inline constexpr int kAttentionTensors = 5;

// Distances in elements from one entry, head or row (query or key) to the next; elements of a row
// lie one after the other.
struct AttentionStrides {
    std::int64_t batch = 0, head = 0, row = 0;
    bool operator==(const AttentionStrides&) const = default;
};

// How the tensors lie in memory: heads outside of rows (bhsd), rows outside of heads (bshd), or
// queries, keys and values of a token side by side in one buffer (packed; as many queries as keys).
enum class AttentionLayout { bhsd, bshd, packed };
std::string_view name(AttentionLayout layout);
AttentionLayout parse_attention_layout(std::string_view word);  // throws UsageError

struct Attention {
    std::int64_t batch = 1;
    std::int64_t heads = 1, kv_heads = 1;
    std::int64_t queries = 0, keys = 0;   // of an entry; where ragged, of the longest
    std::int64_t dim = 0, value_dim = 0;  // of a head: of q and k, of v and o
    Type type = Type::bf16;
    std::optional<double> scale = std::nullopt;  // 1 / sqrt(dim) when there is none
    Mask mask = {};
    ScoreModifier modifier = {};
    // Ragged: lengths of each entry, 0 among them; both or neither. Entries whose strides have
    // batch = 0 lie back to back, else each has its own place and its first rows count.
    std::vector<std::int64_t> query_lengths = {}, key_lengths = {};
    std::array<AttentionStrides, kAttentionTensors> strides = {};  // by AttentionTensor

    const AttentionStrides& of(AttentionTensor tensor) const {
        return strides[static_cast<std::size_t>(tensor)];
    }
    AttentionStrides& of(AttentionTensor tensor) {
        return strides[static_cast<std::size_t>(tensor)];
    }
    bool ragged() const { return !query_lengths.empty(); }
    bool operator==(const Attention&) const = default;
};

// Sets the strides. o and lse are never packed: o lies as bshd then. lse lies as batch, head,
// query; of ragged problems, and of documents but in bhsd, as token and head. Ragged problems lie
// back to back. Throws UsageError for ragged bhsd, and for packed keys that aren't as many as the
// queries.
void lay_out(Attention& problem, AttentionLayout layout);

double scale_of(const Attention& problem);
std::int64_t queries_of(const Attention& problem, std::int64_t entry);
std::int64_t keys_of(const Attention& problem, std::int64_t entry);
bool is_of_queries(AttentionTensor tensor);  // q, o and lse; else of keys
std::int64_t heads_of(const Attention& problem, AttentionTensor tensor);
std::int64_t width_of(const Attention& problem, AttentionTensor tensor);  // elements of a row
std::int64_t kv_head_of(const Attention& problem, std::int64_t head);

// Rows before entry `entry`, which lie back to back; of queries or keys.
std::int64_t rows_before(const Attention& problem, AttentionTensor tensor, std::int64_t entry);
// The row's first element, from the tensor's address on.
std::int64_t position(const Attention& problem, AttentionTensor tensor, std::int64_t entry,
                      std::int64_t head, std::int64_t row);
// position() of every entry's first row of head 0; asked one by one, ragged entries would take as
// many steps as the square of their number.
std::vector<std::int64_t> starts(const Attention& problem, AttentionTensor tensor);
// Elements from the tensor's address to the end of its last row. Packed q, k and v overlap: from
// q's address on, the largest offset of the three counts.
std::int64_t extent(const Attention& problem, AttentionTensor tensor);
// Elements that a tensor has, whatever lies between them.
std::int64_t elements(const Attention& problem, AttentionTensor tensor);

// Pairs of query and key that one head computes over the whole batch, and those there would be
// without a mask.
double visible_pairs(const Attention& problem);
double all_pairs(const Attention& problem);
double density(const Attention& problem);  // their ratio

// Useful FLOP: 2 heads pairs (dim + value_dim) forward, 2 heads pairs (3 dim + 2 value_dim)
// backward, of visible pairs; 2.5 times as many where the dims are equal (arXiv 2307.08691).
double flop(const Attention& problem, AttentionPass pass);
// The same of so many pairs a head, over the whole batch, and of all of them.
double flop_of_pairs(const Attention& problem, AttentionPass pass, double pairs);
double dense_flop(const Attention& problem, AttentionPass pass);

// Bytes that must cross the memory bus at least once. Forward: q, k, v read, o and lse written;
// backward: those and d_o read, d_q, d_k, d_v written; a bias read.
std::uint64_t bytes(const Attention& problem, AttentionPass pass);

// Throws UsageError: sizes outside 1 .. 2^31 - 1, kv_heads that don't divide heads, integer and
// fp8 types, a scale that isn't finite, a mask that isn't valid for the lengths, ragged lengths
// that are too many, too few or too long, a mask of documents or blocks or a bias with ragged
// lengths, strides under which rows overlap, over 2^62 bytes.
void validate(const Attention& problem);

}  // namespace assay::work
