// The batch as cuDNN sees it: entries of their own lengths and places, where a mask of documents
// makes each document an entry.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "work/attention.h"

namespace assay::cuda {

struct CudnnEntries {
    std::int64_t count = 0;
    std::int64_t queries = 0, keys = 0;  // of the longest
    // Of each entry; empty where all are as long as the longest.
    std::vector<std::int32_t> query_lengths, key_lengths;
    // By AttentionTensor: each entry's first element, from the tensor's address on, and the end of
    // the last. Empty where the batch's stride says it.
    std::array<std::vector<std::int64_t>, work::kAttentionTensors> offsets;

    bool has_lengths() const { return !query_lengths.empty(); }
    std::int64_t queries_of(std::int64_t entry) const;
    std::int64_t keys_of(std::int64_t entry) const;
    const std::vector<std::int64_t>& offsets_of(work::AttentionTensor tensor) const {
        return offsets[static_cast<std::size_t>(tensor)];
    }
    bool has_offsets(work::AttentionTensor tensor) const { return !offsets_of(tensor).empty(); }
    bool lengths_differ() const;  // some entry has more or fewer keys than queries
};

// Entries that the pass has nothing to write for are left out. Throws Unsupported for documents and
// ragged entries that don't lie in order, and for entries of nothing that have a place.
CudnnEntries cudnn_entries(const work::Attention& problem, work::AttentionPass pass);

// With the lengths of each entry where all are as long as the longest.
CudnnEntries with_lengths(CudnnEntries entries);

// The strides of a tensor, with those that no element needs set to what a compact tensor has.
work::AttentionStrides cudnn_strides(const work::Attention& problem, const CudnnEntries& entries,
                                     work::AttentionTensor tensor);

}  // namespace assay::cuda
