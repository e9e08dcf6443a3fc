// FLOP per token by each formula that people publish with. They differ by up to a third for one run
// of one model: a figure without its formula's name says little.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer.h"

namespace assay::model {

// N is the parameters that one token uses; for a mixture of experts, the active ones.
struct FlopFormula {
    // Which N is multiplied by 6: 2 forward and 4 backward.
    enum class Counted {
        all,
        without_positions,  // learned position embeddings left out
        used,               // an input embedding that isn't also the head left out
        non_input,          // input embeddings and positions left out, a tied one kept as the head
        products,           // matrices that a token multiplies by: no norms, biases, embeddings
        layers_and_vocabulary,  // all of the layers', and the head
    };
    // Which keys a query is taken to meet.
    enum class Attention {
        full,      // all of the sequence, causal or not, windows or not
        windowed,  // the window's, or all of the sequence
        causal,    // half of the sequence; in a window, the exact share of it
    };

    std::string_view name;
    Counted counted = Counted::all;
    Attention attention = Attention::full;
    std::string_view text;  // "6N + 12 L H Q T, N all parameters"
    std::string_view source;
};
// palm, nanogpt, llm.c, llmq, megatron, torchtitan, semianalysis.
const std::vector<FlopFormula>& flop_formulas();
const FlopFormula& flop_formula(std::string_view name);  // throws UsageError

// FLOP per token of training, forward and backward, without recomputation.
struct FlopPerToken {
    double weights = 0, attention = 0;
    double total() const { return weights + attention; }
};
FlopPerToken training_flop(const Transformer& shape, const FlopFormula& formula,
                           std::int64_t context);

// The share of a T x T score matrix that a causal mask leaves, and a window W of it:
// (W T - W (W - 1) / 2) / T^2 for W <= T; without a window 1/2.
double causal_density(std::int64_t context, std::optional<std::int64_t> window);

// FLOP of one layer's attention for one further token that meets `context` others, forward: 2 for
// each key and value element, the indexer's scores, and a recurrence's own.
double decode_attention_flop(const Mixer& mixer, double context);
// Of one token of a causal prompt of `context` tokens, on average, forward.
double prefill_attention_flop(const Mixer& mixer, std::int64_t context);
// FLOP of one token's products with the weights, forward: 2 for each active parameter of a matrix;
// the head's too.
double weight_flop(const Transformer& shape);

// `shape` with the vocabulary padded to a multiple, as trainers store it.
Transformer with_padded_vocabulary(Transformer shape, std::int64_t multiple);

}  // namespace assay::model
