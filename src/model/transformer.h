// A transformer as layers and the tensors they hold: what every count, the memory planner and the
// speed model start from. Shapes only; config.h makes one from a Hugging Face config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::model {

// What a tensor is: decides how a quantisation stores it and whether a token multiplies by it.
enum class Role {
    embedding,   // a row a token
    head,        // hidden -> vocabulary
    projection,  // any other matrix that a token multiplies by
    router,      // hidden -> experts
    convolution,
    norm,
    bias,
    vector,  // gates, sinks, decay rates: element by element
};

// The part of the network that it belongs to.
enum class Part { embedding, attention, dense, experts, shared_experts, norms, head };

// How tensor parallelism divides it.
enum class Split {
    replicated,
    output,      // the first dimension of `shape`
    input,       // the last one: the partial results are summed over the ranks
    vocabulary,  // the first one, in any portions
};

struct Tensor {
    std::string name;                 // as the checkpoint spells it, "*" for an expert's number
    std::vector<std::int64_t> shape;  // as stored: outputs first
    Role role = Role::projection;
    Part part = Part::attention;
    Split split = Split::replicated;
    // What can't be cut within the split dimension: heads, key-value heads, groups. 0: any row.
    std::int64_t units = 0;
    std::int64_t copies = 1;  // tensors of that name: experts
    double used = 1;          // of the copies, by one token
    bool tied = false;        // another tensor's bytes
    // Quantised checkpoints keep it in the model's own type, whatever its role.
    bool keeps_type = false;

    std::int64_t parameters() const;  // of all copies, 0 when tied
    double active() const;            // of the copies that one token uses, also when tied
};

// What one layer keeps of a request, one entry for each `stride` tokens of the last `window`.
struct CacheEntry {
    std::string what;           // "key and value", "latent", "indexer key"
    std::int64_t elements = 0;  // of an entry, all heads
    std::int64_t heads = 0;     // that tensor parallelism may divide it by; 0: every rank holds all
    std::int64_t rotary = 0;    // of the elements of a latent: packed formats keep these in 2 bytes
    std::optional<std::int64_t> window = {};  // tokens; none: grows with the context
    std::int64_t stride = 1;
};

// How a layer mixes tokens.
struct Mixer {
    enum class Kind {
        none,
        attention,    // MHA, GQA, MQA
        latent,       // MLA: keys and values from one cached latent vector
        linear,       // Kimi delta attention, gated delta net
        state_space,  // Mamba
    };
    Kind kind = Kind::none;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t key_dim = 0;    // of one head, for the scores
    std::int64_t value_dim = 0;  // of one head
    // Keys that a query meets: at most `window` of the last; of a sparse selection at most `top_k`
    // entries, each of `stride` tokens.
    std::optional<std::int64_t> window = {};
    std::optional<std::int64_t> top_k = {};
    // Over 1: the entries of a compressed cache, met beside the window; 1: single tokens.
    std::int64_t stride = 1;
    // Of an indexer, which scores every entry to select `top_k` of them.
    std::int64_t index_heads = 0;
    std::int64_t index_dim = 0;
    std::vector<CacheEntry> cache = {};
    // Of a request, whatever its context: recurrent state, and the last inputs of a convolution.
    std::int64_t state_elements = 0;
    // FLOP per token of a recurrence, which knows no context.
    double state_flop = 0;
};

struct FeedForward {
    enum class Kind { none, dense, experts };
    Kind kind = Kind::none;
    std::int64_t width = 0;    // of one expert
    std::int64_t experts = 0;  // routed
    std::int64_t top_k = 0;
    std::int64_t shared = 0;       // experts that every token uses
    std::int64_t input_width = 0;  // of the routed experts: `hidden`, or a latent width
};

struct Layer {
    Mixer mixer;
    FeedForward feed_forward;
    std::vector<Tensor> tensors;
    // "MLA, 256 experts of 2048": layers of one kind have the same tensors and the same cost.
    std::string kind() const;
};

// Parameters beside the language model that no tensor here stands for: "vision tower", "block
// scales".
struct Extra {
    std::string what;
    std::int64_t parameters = 0;
    bool in_tensors = false;  // stored_bytes() of the tensors has their bytes: block scales
    // Of tensors here, once more: a checkpoint stores them, a device doesn't hold them.
    bool stored_again = false;
    bool tower = false;  // text alone doesn't need it
};

struct Transformer {
    std::string name;          // of the file, or `_name_or_path`
    std::string architecture;  // `model_type`
    std::int64_t hidden = 0;
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;     // longest context
    std::vector<Tensor> input;      // embeddings
    std::vector<Layer> layers;      // in order
    std::vector<Tensor> output;     // last norm, head
    std::vector<Layer> predictors;  // multi-token-prediction layers, not in `layers`
    std::vector<Extra> extras;
    std::vector<std::string> unknown;  // what a config of this kind can't tell
    std::vector<std::string> assumed;  // with --assume
};

}  // namespace assay::model
