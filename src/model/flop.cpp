#include "model/flop.h"

#include <algorithm>

#include "model/counts.h"
#include "work/named_rows.h"

namespace assay::model {
namespace {

using Counted = FlopFormula::Counted;
using Attention = FlopFormula::Attention;

constexpr double kTraining = 3;  // a forward pass, and a backward one of twice its work
constexpr double kMultiplyAndAdd = 2;

bool is_matrix(const Tensor& tensor) {
    return tensor.role == Role::projection || tensor.role == Role::router ||
           tensor.role == Role::head;
}

template <class Selects>
double sum(const std::vector<Tensor>& tensors, const Selects& selects) {
    double active = 0;
    for (const auto& tensor : tensors) active += selects(tensor) ? tensor.active() : 0;
    return active;
}

template <class Selects>
double sum_layers(const Transformer& shape, const Selects& selects) {
    double active = 0;
    for (const auto& layer : shape.layers) active += sum(layer.tensors, selects);
    return active;
}

bool anything(const Tensor&) {
    return true;
}

// The embedding of tokens is the first; those of positions follow it.
double input_embedding(const Transformer& shape) {
    return shape.input.front().active();
}

double position_embeddings(const Transformer& shape) {
    double active = 0;
    for (std::size_t i = 1; i < shape.input.size(); ++i) {
        if (shape.input[i].role == Role::embedding) active += shape.input[i].active();
    }
    return active;
}

// A head of its own, or the embedding in its place: either way one matrix is the head's.
bool tied(const Transformer& shape) {
    return std::ranges::any_of(shape.output,
                               [](const Tensor& t) { return t.role == Role::head && t.tied; });
}

double counted(const Transformer& shape, Counted what) {
    const double layers = sum_layers(shape, anything);
    // The head's tensor stands for a tied embedding too, which is then left out of the input.
    const double output = sum(shape.output, anything);
    const double input = sum(shape.input, anything) - (tied(shape) ? input_embedding(shape) : 0);
    switch (what) {
        case Counted::all:
            return layers + output + input;
        case Counted::without_positions:
            return layers + output + input - position_embeddings(shape);
        case Counted::used:
            return layers + output + input - (tied(shape) ? 0 : input_embedding(shape));
        case Counted::non_input:
            return layers + output;
        case Counted::products:
            return sum_layers(shape, is_matrix) + sum(shape.output, is_matrix);
        case Counted::layers_and_vocabulary:
            return layers + sum(shape.output, is_matrix);
    }
    return 0;
}

// Elements of a key and a value of all heads: 2 FLOP each for every key that is met.
double key_and_value(const Mixer& mixer) {
    return static_cast<double>(mixer.heads * (mixer.key_dim + mixer.value_dim));
}

bool meets_keys(const Mixer& mixer) {
    return mixer.kind == Mixer::Kind::attention || mixer.kind == Mixer::Kind::latent;
}

double keys(const Mixer& mixer, Attention attention, std::int64_t context) {
    const auto tokens = static_cast<double>(context);
    switch (attention) {
        case Attention::full:
            return tokens;
        case Attention::windowed:
            return keys_met(mixer, tokens);
        case Attention::causal:
            break;
    }
    if (mixer.stride == 1) {
        auto limit = mixer.window;
        if (mixer.top_k) limit = limit ? std::min(*limit, *mixer.top_k) : *mixer.top_k;
        return tokens * causal_density(context, limit);
    }
    const double beside = mixer.window ? tokens * causal_density(context, mixer.window) : 0;
    const auto stride = static_cast<double>(mixer.stride);
    // Entries appear one for each `stride` tokens, so a selection is full only stride times later.
    const auto selected =
        mixer.top_k ? std::optional<std::int64_t>(*mixer.top_k * mixer.stride) : std::nullopt;
    return beside + tokens * causal_density(context, selected) / stride;
}

double index_flop(const Mixer& mixer, double entries) {
    return kMultiplyAndAdd * static_cast<double>(mixer.index_heads * mixer.index_dim) * entries;
}

// With one token's queries MLA reads the latents themselves, as keys and as values of every head:
// making keys and values of them again would cost more (arXiv 2405.04434, 2.1.2).
double absorbed(const Mixer& mixer) {
    for (const auto& entry : mixer.cache) {
        if (entry.what != "latent" || mixer.kv_heads != mixer.heads) continue;
        return static_cast<double>(mixer.heads * (2 * entry.elements - entry.rotary));
    }
    return key_and_value(mixer);
}

}  // namespace

double causal_density(std::int64_t context, std::optional<std::int64_t> window) {
    constexpr double kHalf = 0.5;
    if (!window || *window > context) return kHalf;
    const auto t = static_cast<double>(context), w = static_cast<double>(*window);
    return (w * t - w * (w - 1) / 2) / (t * t);
}

const std::vector<FlopFormula>& flop_formulas() {
    static const std::vector<FlopFormula> kFormulas{
        {"palm", Counted::all, Attention::full, "6N + 12 L H Q T, N all parameters",
         "PaLM, arXiv 2204.02311, appendix B"},
        {"nanogpt", Counted::without_positions, Attention::full,
         "6N + 12 L H Q T, N without position embeddings",
         "karpathy/nanoGPT model.py estimate_mfu"},
        {"llm.c", Counted::used, Attention::causal,
         "6N + 6 L C T, N all parameters but an input embedding that isn't the head",
         "karpathy/llm.c train_gpt2.cu, llmc/mfu.h"},
        {"llmq", Counted::layers_and_vocabulary, Attention::causal,
         "6 N_layers + 6 N_head + 6 L d T", "IST-DASLab/llmq src/utilities/sol.cpp"},
        {"megatron", Counted::products, Attention::causal,
         "6 x (projections, feed-forward, head) + causal half of the scores",
         "NVIDIA/Megatron-LM megatron/training/training.py num_floating_point_operations"},
        {"torchtitan", Counted::non_input, Attention::windowed,
         "6N + 6 H (d_qk + d_v) min(T, window) a layer, N active without input embeddings",
         "pytorch/torchtitan models/utils.py"},
        {"semianalysis", Counted::non_input, Attention::causal,
         "6N + 12 L H Q T density, N without input embeddings",
         "SemiAnalysis, MI300X vs H100 vs H200 Benchmark Part 1: Training, 2024-12-22"},
    };
    return kFormulas;
}

const FlopFormula& flop_formula(std::string_view name) {
    return work::row_named("FLOP formula", name, flop_formulas());
}

FlopPerToken training_flop(const Transformer& shape, const FlopFormula& formula,
                           std::int64_t context) {
    FlopPerToken flop{.weights = kTraining * kMultiplyAndAdd * counted(shape, formula.counted)};
    for (const auto& layer : shape.layers) {
        const auto& mixer = layer.mixer;
        flop.attention += kTraining * mixer.state_flop;
        if (!meets_keys(mixer)) continue;
        flop.attention += kTraining * kMultiplyAndAdd * key_and_value(mixer) *
                          keys(mixer, formula.attention, context);
    }
    return flop;
}

double decode_attention_flop(const Mixer& mixer, double context) {
    const double entries = context / static_cast<double>(mixer.stride);
    return mixer.state_flop + index_flop(mixer, entries) +
           kMultiplyAndAdd * absorbed(mixer) * keys_met(mixer, context);
}

double prefill_attention_flop(const Mixer& mixer, std::int64_t context) {
    if (!meets_keys(mixer)) return mixer.state_flop;
    const double entries = static_cast<double>(context) * causal_density(context, std::nullopt) /
                           static_cast<double>(mixer.stride);
    return index_flop(mixer, entries) +
           kMultiplyAndAdd * key_and_value(mixer) * keys(mixer, Attention::causal, context);
}

double weight_flop(const Transformer& shape) {
    return kMultiplyAndAdd * counted(shape, Counted::products);
}

Transformer with_padded_vocabulary(Transformer shape, std::int64_t multiple) {
    const auto padded = (shape.vocabulary + multiple - 1) / multiple * multiple;
    const auto pad = [&](std::vector<Tensor>& tensors) {
        for (auto& tensor : tensors) {
            if (tensor.split == Split::vocabulary && tensor.shape.front() == shape.vocabulary) {
                tensor.shape.front() = padded;
            }
        }
    };
    pad(shape.input);
    pad(shape.output);
    for (auto& layer : shape.predictors) pad(layer.tensors);
    shape.vocabulary = padded;
    return shape;
}

}  // namespace assay::model
