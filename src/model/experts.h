// A mixture of experts: a router sends each token to a few of them; shared experts see all tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/config_keys.h"
#include "model/tensors.h"

namespace assay::model {

// What a family's experts have beside their matrices.
struct ExpertTraits {
    bool bias = false;            // of each expert's matrices
    bool router_bias = false;     // of the router's product
    bool selection_bias = false;  // added to the scores only to choose: e_score_correction_bias
    bool shared_gate = false;     // one number a token scales the shared expert
    bool scales = false;          // of the router's input, and one for each expert
    std::string shared = "shared_experts";
};

struct ExpertsShape {
    std::int64_t hidden = 0, width = 0, experts = 0, top_k = 0;
    std::int64_t shared = 0;        // experts that every token uses
    std::int64_t shared_width = 0;  // of them together
    // Routed experts within a narrower space, between two projections that all of them share.
    std::optional<std::int64_t> latent = {};
    bool latent_norm = false;
    bool gated = true;
    // Chosen by the token's number, from a table of integers: no selection bias.
    bool hashed = false;
    ExpertTraits traits = {};
};

// Widths and numbers under every name that models give them; `width` of an expert falls back to
// intermediate_size. Throws UsageError for a top-k over the number of experts.
ExpertsShape read_experts_shape(const Keys& keys, std::int64_t hidden, bool gated,
                                const ExpertTraits& traits);
bool has_experts(const Keys& keys);

void add_experts(Layer& layer, Tensors tensors, const ExpertsShape& shape);

}  // namespace assay::model
