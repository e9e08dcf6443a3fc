// What a model's tensors and layers add up to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/transformer.h"

namespace assay::model {

struct KindCount {
    std::string kind;  // Layer::kind()
    std::int64_t layers = 0;
    std::int64_t parameters = 0;  // of them together
    double active = 0;
};

// Parameters. `total` is the language model with embeddings and head; a tied head counts once.
struct Counts {
    std::int64_t total = 0;
    double active = 0;             // that one token uses; every row of embedding and head counted
    std::int64_t embedding = 0;    // input embeddings, of tokens and positions
    std::int64_t head = 0;         // 0 when tied
    std::int64_t predictors = 0;   // multi-token-prediction layers, not in `total`
    std::int64_t extras = 0;       // vision tower, block scales
    std::vector<KindCount> kinds;  // in order of first appearance
    std::int64_t everything() const { return total + predictors + extras; }
};
Counts count(const Transformer& shape);

// Routed experts of a layer that `tokens` tokens at once are expected to reach, each choosing
// `top_k` of them evenly: E (1 - (1 - k/E)^B).
double distinct_experts(const FeedForward& feed_forward, double tokens);

// Tokens of the last `context` that a query at their end meets, and entries that it meets beside
// them: with a window, or a sparse selection, fewer than all.
double keys_met(const Mixer& mixer, double context);

}  // namespace assay::model
