#include "support/made_transformer.h"

namespace assay {

namespace {

using namespace model;

Tensor matrix(std::string name, std::int64_t rows, std::int64_t columns, Part part, Split split,
              std::int64_t units = 0) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.shape = {rows, columns};
    tensor.part = part;
    tensor.split = split;
    tensor.units = units;
    return tensor;
}

Tensor norm(std::int64_t size) {
    Tensor tensor;
    tensor.name = "norm";
    tensor.shape = {size};
    tensor.role = Role::norm;
    tensor.part = Part::norms;
    return tensor;
}

Tensor embedding(std::int64_t vocabulary, std::int64_t hidden) {
    auto tensor = matrix("embed", vocabulary, hidden, Part::embedding, Split::vocabulary);
    tensor.role = Role::embedding;
    return tensor;
}

Tensor head(std::int64_t vocabulary, std::int64_t hidden, bool tied) {
    auto tensor = matrix("lm_head", vocabulary, hidden, Part::head, Split::vocabulary);
    tensor.role = Role::head;
    tensor.tied = tied;
    return tensor;
}

Tensor expert(std::string name, std::int64_t rows, std::int64_t columns, Split split,
              const MadeLatent& shape) {
    auto tensor = matrix(std::move(name), rows, columns, Part::experts, split);
    tensor.copies = shape.experts;
    tensor.used = static_cast<double>(shape.top_k);
    return tensor;
}

void add_feed_forward(Layer& layer, const MadeLatent& shape) {
    layer.feed_forward = {
        FeedForward::Kind::experts, shape.width, shape.experts, shape.top_k, shape.shared,
        shape.expert_hidden};
    auto router = matrix("router", shape.experts, shape.hidden, Part::experts, Split::replicated);
    router.role = Role::router;
    layer.tensors.push_back(router);
    for (const char* name : {"gate", "up"}) {
        layer.tensors.push_back(
            expert(name, shape.width, shape.expert_hidden, Split::output, shape));
    }
    layer.tensors.push_back(expert("down", shape.expert_hidden, shape.width, Split::input, shape));
    if (shape.expert_hidden != shape.hidden) {
        layer.tensors.push_back(matrix("latent_in", shape.expert_hidden, shape.hidden,
                                       Part::shared_experts, Split::output));
        layer.tensors.push_back(matrix("latent_out", shape.hidden, shape.expert_hidden,
                                       Part::shared_experts, Split::output));
    }
    const auto width = shape.width * shape.shared;
    for (const char* name : {"shared_gate", "shared_up"}) {
        layer.tensors.push_back(
            matrix(name, width, shape.hidden, Part::shared_experts, Split::output));
    }
    layer.tensors.push_back(
        matrix("shared_down", shape.hidden, width, Part::shared_experts, Split::input));
}

Layer latent_layer(const MadeLatent& shape) {
    constexpr std::int64_t kQuery = 1536, kRank = 512, kRope = 64, kNope = 128, kValue = 128;
    Layer layer;
    layer.mixer.kind = Mixer::Kind::latent;
    layer.mixer.heads = layer.mixer.kv_heads = shape.heads;
    layer.mixer.key_dim = kNope + kRope;
    layer.mixer.value_dim = kValue;
    layer.mixer.cache = {{.what = "latent", .elements = kRank + kRope}};
    layer.tensors = {
        norm(shape.hidden),
        norm(shape.hidden),
        matrix("q_a", kQuery, shape.hidden, Part::attention, Split::replicated),
        matrix("q_b", shape.heads * (kNope + kRope), kQuery, Part::attention, Split::output,
               shape.heads),
        matrix("kv_a", kRank + kRope, shape.hidden, Part::attention, Split::replicated),
        matrix("kv_b", shape.heads * (kNope + kValue), kRank, Part::attention, Split::output,
               shape.heads),
        matrix("o", shape.hidden, shape.heads * kValue, Part::attention, Split::input,
               shape.heads)};
    add_feed_forward(layer, shape);
    return layer;
}

Layer linear_layer(const MadeLatent& shape) {
    constexpr std::int64_t kHead = 128, kKernel = 4;
    Layer layer;
    layer.mixer.kind = Mixer::Kind::linear;
    layer.mixer.heads = layer.mixer.kv_heads = shape.heads;
    layer.mixer.key_dim = layer.mixer.value_dim = kHead;
    const auto width = shape.heads * kHead;
    layer.mixer.state_elements = width * kHead + 3 * width * (kKernel - 1);
    layer.tensors = {norm(shape.hidden), norm(shape.hidden)};
    for (const char* name : {"q", "k", "v", "gate"}) {
        layer.tensors.push_back(
            matrix(name, width, shape.hidden, Part::attention, Split::output, shape.heads));
    }
    layer.tensors.push_back(
        matrix("o", shape.hidden, width, Part::attention, Split::input, shape.heads));
    add_feed_forward(layer, shape);
    return layer;
}

}  // namespace

model::Transformer made_dense(const MadeDense& shape) {
    Transformer transformer;
    transformer.name = shape.name;
    transformer.architecture = "made";
    transformer.hidden = shape.hidden;
    transformer.vocabulary = shape.vocabulary;
    transformer.positions = 131072;
    transformer.input = {embedding(shape.vocabulary, shape.hidden)};
    transformer.output = {norm(shape.hidden), head(shape.vocabulary, shape.hidden, shape.tied)};
    const auto q = shape.heads * shape.head_dim, kv = shape.kv_heads * shape.head_dim;
    Layer layer;
    layer.mixer.kind = Mixer::Kind::attention;
    layer.mixer.heads = shape.heads;
    layer.mixer.kv_heads = shape.kv_heads;
    layer.mixer.key_dim = layer.mixer.value_dim = shape.head_dim;
    layer.mixer.window = shape.window;
    layer.mixer.cache = {{.what = "key and value",
                          .elements = 2 * kv,
                          .heads = shape.kv_heads,
                          .window = shape.window}};
    layer.feed_forward.kind = FeedForward::Kind::dense;
    layer.feed_forward.width = shape.width;
    layer.tensors = {norm(shape.hidden),
                     norm(shape.hidden),
                     matrix("q", q, shape.hidden, Part::attention, Split::output, shape.heads),
                     matrix("k", kv, shape.hidden, Part::attention, Split::output, shape.kv_heads),
                     matrix("v", kv, shape.hidden, Part::attention, Split::output, shape.kv_heads),
                     matrix("o", shape.hidden, q, Part::attention, Split::input, shape.heads),
                     matrix("up", shape.width, shape.hidden, Part::dense, Split::output),
                     matrix("down", shape.hidden, shape.width, Part::dense, Split::input)};
    if (shape.gated) {
        layer.tensors.push_back(
            matrix("gate", shape.width, shape.hidden, Part::dense, Split::output));
    }
    transformer.layers.assign(static_cast<std::size_t>(shape.layers), layer);
    return transformer;
}

model::Transformer made_llama2_70b() {
    return made_dense({"llama2-70b", 80, 8192, 64, 8, 128, 28672, 32000, true, false});
}

model::Transformer made_llama3_8b() {
    return made_dense({"llama3-8b", 32, 4096, 32, 8, 128, 14336, 128256, true, false});
}

model::Transformer made_bloom_176b() {
    return made_dense({"bloom-176b", 70, 14336, 112, 112, 128, 57344, 250880, false, true});
}

model::Transformer made_latent(const MadeLatent& shape) {
    Transformer transformer;
    transformer.name = shape.name;
    transformer.architecture = "made";
    transformer.hidden = shape.hidden;
    transformer.vocabulary = shape.vocabulary;
    transformer.positions = 1 << 20;
    transformer.input = {embedding(shape.vocabulary, shape.hidden)};
    transformer.output = {norm(shape.hidden), head(shape.vocabulary, shape.hidden, false)};
    // Three linear layers before each latent one, as hybrids have them.
    auto linear = shape.linear_layers;
    for (std::int64_t i = 0; i < shape.latent_layers; ++i) {
        const auto before = linear / (shape.latent_layers - i);
        for (std::int64_t j = 0; j < before; ++j) transformer.layers.push_back(linear_layer(shape));
        linear -= before;
        transformer.layers.push_back(latent_layer(shape));
    }
    return transformer;
}

model::Transformer made_k3() {
    return made_latent({"kimi-k3", 24, 69, 7168, 96, 896, 16, 2, 3584, 3072, 163840});
}

double stored_bf16(const model::Tensor& tensor) {
    return 2.0 * static_cast<double>(tensor.parameters());
}

double stored_mxfp4_experts(const model::Tensor& tensor) {
    const bool routed = tensor.part == Part::experts && tensor.copies > 1;
    return static_cast<double>(tensor.parameters()) * (routed ? 4.25 / 8 : 2.0);
}

}  // namespace assay
