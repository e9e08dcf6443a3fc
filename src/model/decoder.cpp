#include "model/decoder.h"

#include <fmt/format.h>

#include "base/error.h"
#include "model/compressed_attention.h"
#include "model/predictor.h"

namespace assay::model {
namespace {

// What a 64-bit count holds with room for every sum made of it.
constexpr double kMostParameters = 1e17;

void add_input(const Decoder& d, Transformer& shape) {
    Tensors tensors(shape.input, "model.", Part::embedding);
    tensors.add({.name = "embed_tokens.weight",
                 .shape = {shape.vocabulary, d.hidden},
                 .role = Role::embedding,
                 .split = Split::vocabulary});
    if (d.traits.learned_positions) {
        if (shape.positions == 0) {
            d.keys.integer({"max_position_embeddings", "n_positions", "n_ctx"}, kTokens);
        }
        tensors.add({.name = "embed_positions.weight",
                     .shape = {shape.positions + *d.traits.learned_positions, d.hidden},
                     .role = Role::embedding});
    }
    if (d.traits.embedding_norm) {
        tensors.within("", Part::norms).norm("embed_layernorm", d.hidden, d.traits.norm_bias);
    }
}

// Gemma's second embedding, one row a token and layer, and the hidden state's share in it.
void add_layer_inputs(const Decoder& d, std::int64_t layers, Transformer& shape) {
    const auto width = d.keys.integer_or({"hidden_size_per_layer_input"}, 0, kCount);
    if (width == 0) return;
    Tensors tensors(shape.input, "model.", Part::embedding);
    const auto rows =
        d.keys.integer_or({"vocab_size_per_layer_input"}, shape.vocabulary, kVocabulary);
    tensors.add({.name = "embed_tokens_per_layer.weight",
                 .shape = {rows, layers * width},
                 .role = Role::embedding,
                 .split = Split::vocabulary});
    tensors.whole("per_layer_model_projection", layers * width, d.hidden);
    tensors.norm("per_layer_projection_norm", width);
}

void add_output(const Decoder& d, bool tied, Transformer& shape) {
    Tensors norms(shape.output, "model.", Part::norms), head(shape.output, "", Part::head);
    norms.norm("norm", d.hidden, d.traits.norm_bias);
    if (d.keys.has({"attn_res_block_size"})) {
        norms.norm("output_res_norm", d.hidden);
        norms.vector("output_res_query", d.hidden);
    }
    if (const auto streams = d.keys.optional_integer({"hc_mult"}, {1, 64})) {
        add_hyper_head(head.within("hc_head_"), d.hidden, *streams);
    }
    head.add({.name = "lm_head.weight",
              .shape = {shape.vocabulary, d.hidden},
              .role = Role::head,
              .split = Split::vocabulary,
              .tied = tied});
    if (d.traits.head_bias) head.bias("lm_head", shape.vocabulary, Split::vocabulary, 0);
}

// A layer routed by token number looks its experts up in a table of integers, which checkpoints
// count among their elements.
void add_tables(const std::vector<LayerPlan>& plans, Transformer& shape) {
    std::int64_t entries = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (plans[i].hashed) entries += shape.vocabulary * shape.layers[i].feed_forward.top_k;
    }
    if (entries > 0) shape.extras.push_back({"tables of routing by token", entries});
}

void expect_countable(const Keys& keys, const Transformer& shape) {
    double total = 0;
    const auto add = [&](const std::vector<Tensor>& tensors) {
        for (const auto& tensor : tensors) total += static_cast<double>(tensor.parameters());
    };
    add(shape.input);
    for (const auto& layer : shape.layers) add(layer.tensors);
    for (const auto& layer : shape.predictors) add(layer.tensors);
    if (total <= kMostParameters) return;
    throw UsageError(fmt::format("{}: {:.3g} parameters", keys.source(), total),
                     fmt::format("a model may have up to {:g}; a width, the experts or the layers "
                                 "are too many",
                                 kMostParameters));
}

}  // namespace

Transformer make_decoder(const Keys& root, const Keys& text, const Family& family) {
    const auto& traits = family.traits;
    Transformer shape;
    shape.hidden = text.integer({"hidden_size", "n_embd", "d_model", "dim"});
    shape.vocabulary = text.integer({"vocab_size", "padded_vocab_size"}, kVocabulary);
    shape.positions =
        text.integer_or({"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                         "seq_length", "max_sequence_length", "model_max_length"},
                        0, kTokens);
    const auto layers =
        text.integer({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, kLayers);
    shape.unknown = family.unknown;

    const Decoder decoder{text, traits, shape.hidden};
    add_input(decoder, shape);
    add_layer_inputs(decoder, layers, shape);
    const auto plans = plan_layers(text, layers, shape.hidden);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        shape.layers.push_back(
            make_layer(decoder, plans[i], fmt::format("{}.{}.", traits.layers, i)));
    }
    const bool tied =
        root.flag_or({"tie_word_embeddings"}, text.flag_or({"tie_word_embeddings"}, false));
    add_output(decoder, tied, shape);
    add_tables(plans, shape);
    add_predictors(decoder, plans.back(), shape);
    expect_countable(text, shape);
    return shape;
}

}  // namespace assay::model
