// What model families have that their config.json doesn't say. A family whose config says all is
// one line of the table; one with a layer of its own kind brings the file that makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/attention.h"
#include "model/experts.h"

namespace assay::model {

struct Traits {
    // Which projections `attention_bias` speaks of.
    enum class Bias { qkv, all };
    // Norms of a layer: one before both parts, which run in parallel; one before (or after) each;
    // before and after each; those, and three more where dense and routed parts run in parallel.
    enum class Norms { shared, each, around, around_parallel };
    // How a multi-token-prediction layer joins hidden state and embedding: by one matrix for both,
    // or one for each. `unpublished`: configs declare them, no checkpoint has them.
    enum class Predictor { unknown, joint, separate, unpublished };

    Bias bias = Bias::all;
    AttentionShape::Norm query_key_norm = AttentionShape::Norm::none;
    Norms norms = Norms::each;
    bool norm_bias = false;
    bool gated = true;
    bool output_gate = false;  // of attention
    bool sinks = false;
    bool embedding_norm = false;
    bool head_bias = false;
    std::optional<std::int64_t> learned_positions = {};  // so many more than the context has
    Predictor predictor = Predictor::unknown;
    bool predictor_copies = false;  // its checkpoints store embedding and head again for each
    std::string layers = "model.layers";
    std::string feed_forward = "mlp";
    ExpertTraits experts = {};
};

struct Family {
    std::vector<std::string_view> types;  // `model_type`
    Traits traits;
    // JSON: what its configuration class assumes for keys that a file leaves out.
    const char* defaults = "{}";
    // What its checkpoints have and its configs don't tell.
    std::vector<std::string> unknown = {};
};

// nullptr for a type in no row.
const Family* find_family(std::string_view model_type);
// Llama's: what an unknown type is read as.
const Family& generic_family();
std::vector<std::string> family_types();

}  // namespace assay::model
