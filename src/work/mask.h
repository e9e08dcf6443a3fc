// Which keys a query sees: masks that compose, exact counts, no machine.
//
// With band, prefix, documents and blocks as below, query i sees key j if
//     (band(i, j) or j < prefix) and same document(i, j) and block(i, j).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::work {

// Where the diagonal lies when there are more or fewer keys than queries: query i stands at key i,
// or the last query stands at the last key.
enum class Alignment { top_left, bottom_right };

// Keys [lo, hi).
struct KeySpan {
    std::int64_t lo = 0, hi = 0;
    std::int64_t size() const { return hi > lo ? hi - lo : 0; }
    bool operator==(const KeySpan&) const = default;
};

// What a row sees before blocks are looked at: two spans, ascending and apart; either may be empty.
using RowSpans = std::array<KeySpan, 2>;

// Blocks of queries x keys that are seen, all others hidden. Its size in blocks covers the whole.
struct BlockList {
    std::int64_t size = 0;  // queries and keys of a block; 0: there is no list
    // rows[r]: the key blocks that query block r sees, ascending.
    std::vector<std::vector<std::int64_t>> rows;

    bool empty() const { return size == 0; }
    bool sees(std::int64_t query_block, std::int64_t key_block) const;
    bool operator==(const BlockList&) const = default;
};

struct Mask {
    bool causal = false;  // no key behind the query's own
    Alignment alignment = Alignment::top_left;
    // The keys nearest to the query's own, that one counted: its own and window - 1 before it;
    // without `causal` as many behind it too. 0: all.
    std::int64_t window = 0;
    std::int64_t prefix = 0;  // the first keys, which every query sees; causal masks only
    // Lengths in order, as many queries as keys; a query sees its own document only. Empty: one.
    std::vector<std::int64_t> documents;
    BlockList blocks;

    bool is_full() const;
    bool operator==(const Mask&) const = default;
};

// "full", or rules joined by +: causal, causal:bottom-right, window:W, prefix:P, document:D and
// blocks:SIZE:B. D is even:N (N documents as equal as may be), skewed:N (lengths in proportion 1,
// 2, 4, ..., at least 1, the last one taking the rest) or lengths joined by /. B is a list of key
// blocks a query block, 0-3,7/1/... Lengths are of the whole problem. Throws UsageError.
Mask parse_mask(std::string_view text, std::int64_t queries, std::int64_t keys);
// What parse_mask reads back.
std::string name(const Mask& mask);
// Throws UsageError for window or prefix out of range, documents that don't cover the sequence and
// blocks that don't cover it.
void validate(const Mask& mask, std::int64_t queries, std::int64_t keys);

// The masks of all rows of one problem of `queries` x `keys`.
class MaskRows {
  public:
    // `mask` must outlive it, and be valid for these lengths.
    MaskRows(const Mask& mask, std::int64_t queries, std::int64_t keys);

    RowSpans spans(std::int64_t query) const;
    bool sees(std::int64_t query, std::int64_t key) const;
    // All keys that `query` sees, blocks looked at: ascending spans, none empty.
    std::vector<KeySpan> seen(std::int64_t query) const;
    // The key that the query stands at: what windows and ALiBi measure from.
    std::int64_t position(std::int64_t query) const { return query + shift_; }
    std::int64_t queries() const { return queries_; }
    std::int64_t keys() const { return keys_; }
    const Mask& mask() const { return mask_; }

  private:
    const Mask& mask_;
    std::int64_t queries_, keys_, shift_;
    std::vector<std::int64_t> document_of_;  // by query; empty without documents
    std::vector<std::int64_t> starts_;       // of the documents, and the end
};

// Pairs of query and key that are seen. Exact.
std::int64_t visible_pairs(const Mask& mask, std::int64_t queries, std::int64_t keys);

}  // namespace assay::work
