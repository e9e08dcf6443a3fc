#include "cuda/cudnn/entries.h"

#include <algorithm>

#include "base/error.h"

namespace assay::cuda {

namespace {

using work::AttentionTensor;

constexpr std::array<AttentionTensor, work::kAttentionTensors> kTensors{
    AttentionTensor::q, AttentionTensor::k, AttentionTensor::v, AttentionTensor::o,
    AttentionTensor::lse};
constexpr const char* kInOrder = "lay them out as bshd or packed";

// Rows of one entry: where they begin, in which entry of the problem, and how many they are.
struct Piece {
    std::int64_t entry = 0;
    std::int64_t query = 0, key = 0;  // the first of each
    std::int64_t queries = 0, keys = 0;
};

std::vector<Piece> documents(const work::Attention& p) {
    std::vector<Piece> pieces;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        std::int64_t at = 0;
        for (const auto length : p.mask.documents) {
            pieces.push_back({entry, at, at, length, length});
            at += length;
        }
    }
    return pieces;
}

std::vector<Piece> ragged(const work::Attention& p, work::AttentionPass pass) {
    std::vector<Piece> pieces;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        const auto queries = work::queries_of(p, entry), keys = work::keys_of(p, entry);
        // The backward pass writes zeros for keys that no query sees.
        const bool writes = queries > 0 || (keys > 0 && pass == work::AttentionPass::backward);
        if (writes) pieces.push_back({entry, 0, 0, queries, keys});
    }
    return pieces;
}

void set_lengths(CudnnEntries& entries, const std::vector<Piece>& pieces) {
    entries.count = static_cast<std::int64_t>(pieces.size());
    for (const auto& piece : pieces) {
        entries.queries = std::max(entries.queries, piece.queries);
        entries.keys = std::max(entries.keys, piece.keys);
        entries.query_lengths.push_back(static_cast<std::int32_t>(piece.queries));
        entries.key_lengths.push_back(static_cast<std::int32_t>(piece.keys));
    }
}

void set_offsets(CudnnEntries& entries, const work::Attention& p, const std::vector<Piece>& pieces,
                 AttentionTensor tensor) {
    auto& offsets = entries.offsets[static_cast<std::size_t>(tensor)];
    const bool queries = work::is_of_queries(tensor);
    const auto starts = work::starts(p, tensor);
    for (const auto& piece : pieces) {
        offsets.push_back(starts[static_cast<std::size_t>(piece.entry)] +
                          (queries ? piece.query : piece.key) * p.of(tensor).row);
    }
    const auto& last = pieces.back();
    offsets.push_back(offsets.back() + (queries ? last.queries : last.keys) * p.of(tensor).row);
}

bool by_token(const work::Attention& p, AttentionTensor tensor) {
    const auto& s = p.of(tensor);
    return s.row >= s.head || work::heads_of(p, tensor) == 1;
}

// Entries follow each other row by row: what lets a kernel step from one into the next.
bool in_order(const work::Attention& p, AttentionTensor tensor) {
    const auto& s = p.of(tensor);
    if (p.ragged()) return s.batch != 0 || by_token(p, tensor);
    const auto rows = work::is_of_queries(tensor) ? p.queries : p.keys;
    return by_token(p, tensor) && (p.batch == 1 || s.batch == rows * s.row);
}

void require_order(const work::Attention& p) {
    for (const auto tensor : kTensors) {
        if (tensor == AttentionTensor::lse || in_order(p, tensor)) continue;
        throw Unsupported(
            "cuDNN takes documents and entries back to back only where a token's heads lie "
            "together",
            kInOrder);
    }
}

}  // namespace

std::int64_t CudnnEntries::queries_of(std::int64_t entry) const {
    return has_lengths() ? query_lengths[static_cast<std::size_t>(entry)] : queries;
}

std::int64_t CudnnEntries::keys_of(std::int64_t entry) const {
    return has_lengths() ? key_lengths[static_cast<std::size_t>(entry)] : keys;
}

bool CudnnEntries::lengths_differ() const {
    return has_lengths() ? query_lengths != key_lengths : queries != keys;
}

CudnnEntries cudnn_entries(const work::Attention& p, work::AttentionPass pass) {
    CudnnEntries entries;
    entries.count = p.batch;
    entries.queries = p.queries;
    entries.keys = p.keys;
    if (!p.mask.documents.empty()) {
        require_order(p);
        const auto pieces = documents(p);
        entries = {};
        set_lengths(entries, pieces);
        for (const auto tensor : kTensors) set_offsets(entries, p, pieces, tensor);
        return entries;
    }
    if (!p.ragged()) return entries;
    require_order(p);
    const bool joined = p.of(AttentionTensor::q).batch == 0;
    for (const auto tensor : kTensors) {
        if (tensor == AttentionTensor::lse || (p.of(tensor).batch == 0) == joined) continue;
        throw Unsupported(
            "cuDNN takes no ragged entries that lie back to back in one tensor and apart in "
            "another",
            kInOrder);
    }
    const auto pieces = ragged(p, pass);
    if (pieces.empty()) throw Unsupported("cuDNN has nothing to do: no entry has a query");
    if (static_cast<std::int64_t>(pieces.size()) != p.batch && !joined) {
        throw Unsupported("cuDNN takes no empty entries that have a place of their own", kInOrder);
    }
    entries = {};
    set_lengths(entries, pieces);
    if (!joined) entries.queries = p.queries, entries.keys = p.keys;
    for (const auto tensor : kTensors) {
        if (p.of(tensor).batch == 0) {
            set_offsets(entries, p, pieces, tensor);
        } else if (joined && static_cast<std::int64_t>(pieces.size()) != p.batch) {
            throw Unsupported("cuDNN takes no empty entries whose lse has a place of its own",
                              kInOrder);
        } else if (joined) {
            // Its rows are apart by the longest that the problem allows.
            entries.queries = p.queries;
        }
    }
    return entries;
}

CudnnEntries with_lengths(CudnnEntries entries) {
    if (entries.has_lengths()) return entries;
    const auto count = static_cast<std::size_t>(entries.count);
    entries.query_lengths.assign(count, static_cast<std::int32_t>(entries.queries));
    entries.key_lengths.assign(count, static_cast<std::int32_t>(entries.keys));
    return entries;
}

work::AttentionStrides cudnn_strides(const work::Attention& p, const CudnnEntries& entries,
                                     AttentionTensor tensor) {
    auto s = p.of(tensor);
    const auto rows = work::is_of_queries(tensor) ? entries.queries : entries.keys;
    const auto heads = work::heads_of(p, tensor), width = work::width_of(p, tensor);
    if (heads == 1) s.head = width;
    if (rows == 1) s.row = s.head * heads;
    if (entries.count == 1 || entries.has_offsets(tensor)) {
        s.batch = std::max(s.head * heads, s.row * rows);
    }
    return s;
}

}  // namespace assay::cuda
