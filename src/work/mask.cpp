#include "work/mask.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::work {
namespace {

constexpr const char* kMaskHint =
    "write full, or rules joined by +: causal, causal:bottom-right, window:W, prefix:P, "
    "document:even:N, document:skewed:N, document:L1/L2/..., blocks:SIZE:ROWS";

std::int64_t parse_count(std::string_view digits, std::string_view rule) {
    std::int64_t value = 0;
    const bool known = !digits.empty() && digits.size() <= 18 &&
                       std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (!known) {
        throw UsageError(fmt::format("mask {} has {:?} for a count", rule, digits), kMaskHint);
    }
    for (const char digit : digits) value = 10 * value + (digit - '0');
    return value;
}

std::int64_t blocks_over(std::int64_t length, std::int64_t size) {
    return (length + size - 1) / size;
}

std::vector<std::int64_t> even_documents(std::int64_t count, std::int64_t length) {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        lengths[static_cast<std::size_t>(i)] = (i + 1) * length / count - i * length / count;
    }
    return lengths;
}

std::vector<std::int64_t> skewed_documents(std::int64_t count, std::int64_t length) {
    std::vector<std::int64_t> lengths;
    const std::int64_t parts = (std::int64_t{1} << count) - 1;
    std::int64_t left = length;
    for (std::int64_t i = 0; i < count - 1; ++i) {
        // In a double: exact enough for a length, and length << i may pass 63 bits.
        const double share = static_cast<double>(length) *
                             static_cast<double>(std::int64_t{1} << i) / static_cast<double>(parts);
        lengths.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(share)));
        left -= lengths.back();
    }
    lengths.push_back(left);
    return lengths;
}

std::vector<std::int64_t> parse_documents(std::string_view text, std::int64_t length) {
    constexpr std::int64_t kMostEven = std::int64_t{1} << 24, kMostSkewed = 40;
    for (const std::string_view kind : {"even:", "skewed:"}) {
        if (!text.starts_with(kind)) continue;
        const auto count = parse_count(text.substr(kind.size()), "document");
        const bool skewed = kind == "skewed:";
        const auto most = std::min(length, skewed ? kMostSkewed : kMostEven);
        if (count < 1 || count > most) {
            throw UsageError(fmt::format("mask document:{} makes no {} documents of {} tokens",
                                         text, count, length),
                             fmt::format("give 1 to {}", most));
        }
        auto lengths = skewed ? skewed_documents(count, length) : even_documents(count, length);
        if (lengths.back() < 1) {
            throw UsageError(
                fmt::format("mask document:{} needs more than {} tokens", text, length),
                "give fewer documents");
        }
        return lengths;
    }
    std::string listed(text);
    std::ranges::replace(listed, ',', '/');
    std::vector<std::int64_t> lengths;
    for (const auto& word : split(listed, '/')) {
        if (!word.empty()) lengths.push_back(parse_count(word, "document"));
    }
    if (lengths.empty()) {
        throw UsageError(fmt::format("mask document:{} lists no length", text), kMaskHint);
    }
    return lengths;
}

std::vector<std::int64_t> parse_block_row(std::string_view text, std::int64_t columns) {
    std::vector<std::int64_t> row;
    for (const auto& item : split(text, ',')) {
        if (trim(item).empty()) continue;
        const auto dash = item.find('-');
        const auto first = parse_count(trim(std::string_view(item).substr(0, dash)), "blocks");
        const auto last =
            dash == std::string::npos
                ? first
                : parse_count(trim(std::string_view(item).substr(dash + 1)), "blocks");
        if (last < first || last >= columns) {
            throw UsageError(
                fmt::format("mask blocks has {:?}: key blocks are 0 to {}", item, columns - 1),
                "list the key blocks that each query block sees, as 0-3,7");
        }
        for (auto block = first; block <= last; ++block) row.push_back(block);
    }
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    return row;
}

BlockList parse_blocks(std::string_view text, std::int64_t keys) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) {
        throw UsageError(fmt::format("mask blocks:{} names no list", text),
                         "write blocks:SIZE:ROWS: blocks:128:0/0-1/2");
    }
    BlockList list;
    list.size = parse_count(text.substr(0, colon), "blocks");
    if (list.size < 1) throw UsageError("mask blocks has blocks of 0 tokens", kMaskHint);
    for (const auto& row : split(text.substr(colon + 1), '/')) {
        list.rows.push_back(parse_block_row(row, blocks_over(keys, list.size)));
    }
    return list;
}

std::string block_row_name(const std::vector<std::int64_t>& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size();) {
        std::size_t last = i;
        while (last + 1 < row.size() && row[last + 1] == row[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(row[i]);
        if (last > i) text += fmt::format("-{}", row[last]);
        i = last + 1;
    }
    return text;
}

}  // namespace

bool BlockList::sees(std::int64_t query_block, std::int64_t key_block) const {
    const auto& row = rows[static_cast<std::size_t>(query_block)];
    return std::ranges::binary_search(row, key_block);
}

bool Mask::is_full() const {
    return !causal && window == 0 && documents.empty() && blocks.empty();
}

Mask parse_mask(std::string_view text, std::int64_t queries, std::int64_t keys) {
    Mask mask;
    if (text == "full") return mask;
    std::vector<std::string> named;
    for (const auto& rule : split(text, '+')) {
        const auto colon = rule.find(':');
        const std::string_view word = std::string_view(rule).substr(0, colon);
        if (std::ranges::find(named, word) != named.end()) {
            throw UsageError(fmt::format("mask {} names {} twice", text, word), kMaskHint);
        }
        named.emplace_back(word);
        const std::string_view value =
            colon == std::string::npos ? "" : std::string_view(rule).substr(colon + 1);
        if (word == "causal") {
            mask.causal = true;
            if (value == "bottom-right") {
                mask.alignment = Alignment::bottom_right;
            } else if (!value.empty()) {
                throw UsageError(fmt::format("mask {} has an unknown alignment", rule),
                                 "write causal (the first query at the first key) or "
                                 "causal:bottom-right (the last at the last)");
            }
        } else if (word == "window" || word == "prefix") {
            const auto count = parse_count(value, rule);
            if (count < 1) {
                throw UsageError(fmt::format("mask {} sees no key", rule),
                                 word == "window" ? "give at least 1: the query's own key counts"
                                                  : "give at least 1 key that every query sees");
            }
            (word == "window" ? mask.window : mask.prefix) = count;
        } else if (word == "document") {
            mask.documents = parse_documents(value, queries);
        } else if (word == "blocks") {
            mask.blocks = parse_blocks(value, keys);
        } else {
            throw UsageError(fmt::format("unknown mask {:?}", rule), kMaskHint);
        }
    }
    validate(mask, queries, keys);
    return mask;
}

std::string name(const Mask& mask) {
    std::vector<std::string> rules;
    if (mask.causal) {
        rules.emplace_back(mask.alignment == Alignment::top_left ? "causal"
                                                                 : "causal:bottom-right");
    }
    if (mask.window > 0) rules.push_back(fmt::format("window:{}", mask.window));
    if (mask.prefix > 0) rules.push_back(fmt::format("prefix:{}", mask.prefix));
    if (!mask.documents.empty()) {
        rules.push_back(fmt::format("document:{}", fmt::join(mask.documents, "/")));
    }
    if (!mask.blocks.empty()) {
        std::vector<std::string> rows;
        for (const auto& row : mask.blocks.rows) rows.push_back(block_row_name(row));
        rules.push_back(fmt::format("blocks:{}:{}", mask.blocks.size, join(rows, "/")));
    }
    return rules.empty() ? "full" : join(rules, "+");
}

void validate(const Mask& mask, std::int64_t queries, std::int64_t keys) {
    if (mask.window < 0 || mask.prefix < 0) {
        throw UsageError("a mask's window or prefix is below 0", kMaskHint);
    }
    if (mask.prefix > 0 && !mask.causal) {
        throw UsageError(fmt::format("mask prefix:{} without causal sees every key", mask.prefix),
                         "add causal: causal+prefix:P");
    }
    if (!mask.documents.empty()) {
        std::int64_t sum = 0;
        for (const auto length : mask.documents) {
            if (length < 1 || length > queries) {
                throw UsageError(
                    fmt::format("a document of {} tokens in a sequence of {}", length, queries),
                    "give lengths from 1 that add up to the sequence");
            }
            sum += length;
        }
        if (queries != keys) {
            throw UsageError(fmt::format("documents with {} queries and {} keys", queries, keys),
                             "documents need as many queries as keys");
        }
        if (sum != queries) {
            throw UsageError(
                fmt::format("documents of {} tokens in all don't cover a sequence of {}", sum,
                            queries),
                "give lengths that add up to the sequence");
        }
    }
    const auto& blocks = mask.blocks;
    if (blocks.empty()) return;
    const auto wanted = blocks_over(queries, blocks.size);
    if (static_cast<std::int64_t>(blocks.rows.size()) != wanted) {
        throw UsageError(fmt::format("a block list of {} rows for {} queries in blocks of {}",
                                     blocks.rows.size(), queries, blocks.size),
                         fmt::format("give {} rows", wanted));
    }
    for (const auto& row : blocks.rows) {
        if (!row.empty() && (row.front() < 0 || row.back() >= blocks_over(keys, blocks.size))) {
            throw UsageError(fmt::format("a block list names key block {}", row.back()),
                             fmt::format("there are {} key blocks of {}",
                                         blocks_over(keys, blocks.size), blocks.size));
        }
    }
}

MaskRows::MaskRows(const Mask& mask, std::int64_t queries, std::int64_t keys)
    : mask_(mask),
      queries_(queries),
      keys_(keys),
      shift_(mask.alignment == Alignment::bottom_right ? keys - queries : 0) {
    if (mask.documents.empty()) return;
    starts_.push_back(0);
    document_of_.reserve(static_cast<std::size_t>(queries));
    for (std::size_t d = 0; d < mask.documents.size(); ++d) {
        document_of_.insert(document_of_.end(), static_cast<std::size_t>(mask.documents[d]),
                            static_cast<std::int64_t>(d));
        starts_.push_back(starts_.back() + mask.documents[d]);
    }
}

RowSpans MaskRows::spans(std::int64_t query) const {
    const auto at = position(query);
    KeySpan band{0, keys_};
    if (mask_.causal) band.hi = std::min(band.hi, at + 1);
    if (mask_.window > 0) {
        band.lo = std::max(band.lo, at - mask_.window + 1);
        if (!mask_.causal) band.hi = std::min(band.hi, at + mask_.window);
    }
    KeySpan prefix{0, std::min(mask_.prefix, keys_)};
    if (band.size() == 0) {
        band = {};
    } else if (prefix.size() > 0 && prefix.hi >= band.lo) {
        band = {0, std::max(prefix.hi, band.hi)};
        prefix = {};
    }
    RowSpans spans{prefix, band};
    if (!document_of_.empty()) {
        const auto document =
            static_cast<std::size_t>(document_of_[static_cast<std::size_t>(query)]);
        for (auto& span : spans) {
            span.lo = std::max(span.lo, starts_[document]);
            span.hi = std::min(span.hi, starts_[document + 1]);
        }
    }
    for (auto& span : spans) {
        if (span.size() == 0) span = {};
    }
    return spans;
}

bool MaskRows::sees(std::int64_t query, std::int64_t key) const {
    const auto& blocks = mask_.blocks;
    if (!blocks.empty() && !blocks.sees(query / blocks.size, key / blocks.size)) return false;
    const auto both = spans(query);
    return std::ranges::any_of(both, [&](const KeySpan& s) { return key >= s.lo && key < s.hi; });
}

std::vector<KeySpan> MaskRows::seen(std::int64_t query) const {
    std::vector<KeySpan> seen;
    const auto add = [&](KeySpan span) {
        if (span.size() == 0) return;
        if (!seen.empty() && seen.back().hi == span.lo) {
            seen.back().hi = span.hi;
        } else {
            seen.push_back(span);
        }
    };
    const auto& blocks = mask_.blocks;
    for (const auto& span : spans(query)) {
        if (blocks.empty()) {
            add(span);
            continue;
        }
        for (const auto block : blocks.rows[static_cast<std::size_t>(query / blocks.size)]) {
            add({std::max(span.lo, block * blocks.size),
                 std::min(span.hi, (block + 1) * blocks.size)});
        }
    }
    return seen;
}

std::int64_t visible_pairs(const Mask& mask, std::int64_t queries, std::int64_t keys) {
    if (mask.is_full()) return queries * keys;
    const MaskRows rows(mask, queries, keys);
    std::int64_t pairs = 0;
    for (std::int64_t query = 0; query < queries; ++query) {
        for (const auto& span : rows.seen(query)) pairs += span.size();
    }
    return pairs;
}

}  // namespace assay::work
