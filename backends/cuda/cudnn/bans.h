// Versions of cuDNN whose attention is wrong, or isn't there, for some problems: known before it is
// asked, since a wrong answer isn't announced.
#pragma once

#include <cstddef>
#include <string>

#include "cuda/cudnn/entries.h"
#include "work/attention.h"

namespace assay::cuda {

struct CudnnQuestion {
    const work::Attention& problem;
    const CudnnEntries& entries;
    work::AttentionPass pass;
    int capability;       // 10 x major + minor
    std::size_t version;  // 91900 is 9.19.0
};

// Why this version doesn't take it; "" where nothing is known against it.
std::string cudnn_ban(const CudnnQuestion& question);

// Whether this version has to be told that no key lies behind the last: it takes whole tiles of
// keys otherwise. with_lengths() tells it.
bool cudnn_wants_lengths(const CudnnQuestion& question);

}  // namespace assay::cuda
