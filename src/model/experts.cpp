#include "model/experts.h"

#include "model/dense.h"

namespace assay::model {
namespace {

constexpr Bounds kExperts{1, 1'000'000};

const Names kNumber{"n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"};
const Names kTopK{"num_experts_per_tok",
                  "num_experts_per_token",
                  "experts_per_token",
                  "top_k_experts",
                  "moe_k",
                  "moe_topk",
                  "num_experts_per_topk"};
const Names kWidthNames{"moe_intermediate_size", "expert_ffn_hidden_size", "ffn_hidden_size",
                        "intermediate_size"};
const Names kSharedNumber{"n_shared_experts", "num_shared_experts", "num_shared_expert",
                          "moe_num_shared_experts"};
const Names kSharedWidth{"moe_shared_expert_intermediate_size", "shared_expert_intermediate_size",
                         "share_expert_dim", "shared_intermediate_size"};
const Names kLatent{"routed_expert_hidden_size", "moe_latent_size", "moe_latent_hidden_size"};

// `shared_experts` has their number, or their width, or both.
void read_shared(const Keys& keys, ExpertsShape& shape) {
    const auto width = keys.integer_or(kSharedWidth, 0, kCount);
    shape.shared = keys.integer_or(kSharedNumber, width > 0 ? 1 : 0, {0, 1024});
    shape.shared_width =
        width > 0 ? width * std::max<std::int64_t>(shape.shared, 1) : shape.width * shape.shared;
    if (shape.shared_width == 0) shape.shared = 0;
}

// One matrix of every routed expert.
void add_routed(Tensors& tensors, const ExpertsShape& s, const char* name, Split split,
                std::int64_t out, std::int64_t in) {
    const auto used = static_cast<double>(s.top_k);
    if (s.traits.bias) {
        tensors.add({.name = std::string("experts.*.") + name + ".bias",
                     .shape = {out},
                     .role = Role::bias,
                     .split = split == Split::output ? Split::output : Split::replicated,
                     .copies = s.experts,
                     .used = used});
    }
    tensors.add({.name = std::string("experts.*.") + name + ".weight",
                 .shape = {out, in},
                 .split = split,
                 .copies = s.experts,
                 .used = used});
}

void add_router(Tensors tensors, const ExpertsShape& s) {
    tensors.add({.name = "gate.weight", .shape = {s.experts, s.hidden}, .role = Role::router});
    if (s.traits.router_bias) tensors.bias("gate", s.experts, Split::replicated, 0);
    if (s.traits.selection_bias && !s.hashed) {
        tensors.vector("gate.e_score_correction_bias", s.experts);
    }
    if (s.traits.scales) {
        tensors.vector("router.scale", s.hidden);
        tensors.vector("router.per_expert_scale", s.experts);
    }
}

void add_latent(Tensors& tensors, const ExpertsShape& s) {
    // Published checkpoints with quantised experts leave these two as they are.
    tensors.whole("routed_expert_down_proj", *s.latent, s.hidden);
    tensors.last().keeps_type = true;
    if (s.latent_norm) tensors.norm("routed_expert_norm", *s.latent);
    tensors.whole("routed_expert_up_proj", s.hidden, *s.latent);
    tensors.last().keeps_type = true;
}

}  // namespace

bool has_experts(const Keys& keys) {
    return keys.integer_or(kNumber, 0, {0, 1'000'000}) > 0;
}

ExpertsShape read_experts_shape(const Keys& keys, std::int64_t hidden, bool gated,
                                const ExpertTraits& traits) {
    ExpertsShape shape{.hidden = hidden,
                       .width = keys.integer(kWidthNames),
                       .experts = keys.integer(kNumber, kExperts),
                       .top_k = keys.integer(kTopK, kExperts),
                       .latent = keys.optional_integer(kLatent),
                       .latent_norm = keys.flag_or({"latent_moe_use_norm"}, false),
                       .gated = gated,
                       .traits = traits};
    if (shape.top_k > shape.experts) {
        keys.fail("num_experts_per_tok", "is more than there are experts");
    }
    read_shared(keys, shape);
    return shape;
}

void add_experts(Layer& layer, Tensors tensors, const ExpertsShape& s) {
    const auto in = s.latent.value_or(s.hidden);
    layer.feed_forward = {.kind = FeedForward::Kind::experts,
                          .width = s.width,
                          .experts = s.experts,
                          .top_k = s.top_k,
                          .shared = s.shared,
                          .input_width = in};
    add_router(tensors, s);
    if (s.latent) add_latent(tensors, s);
    if (s.gated) add_routed(tensors, s, "gate_proj", Split::output, s.width, in);
    add_routed(tensors, s, "up_proj", Split::output, s.width, in);
    add_routed(tensors, s, "down_proj", Split::input, in, s.width);
    if (s.shared_width == 0) return;
    add_dense_tensors(tensors.within(s.traits.shared + ".", Part::shared_experts),
                      {.hidden = s.hidden, .width = s.shared_width, .gated = s.gated});
    if (s.traits.shared_gate) {
        auto gate = tensors.within("", Part::shared_experts);
        gate.whole("shared_expert_gate", 1, s.hidden);
        gate.last().keeps_type = true;
    }
}

}  // namespace assay::model
