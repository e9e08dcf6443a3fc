#include "model/linear_attention.h"

namespace assay::model {
namespace {

constexpr Bounds kHead{1, 1 << 14};

// A causal convolution over the last `kernel` tokens, one filter a channel; what it remembers of a
// request is kernel - 1 inputs.
void add_convolution(Layer& layer, Tensors& tensors, std::string_view name, std::int64_t channels,
                     std::int64_t kernel, std::int64_t units) {
    tensors.add({.name = std::string(name) + ".weight",
                 .shape = {channels, 1, kernel},
                 .role = Role::convolution,
                 .split = Split::output,
                 .units = units});
    layer.mixer.state_elements += channels * (kernel - 1);
}

struct State {
    std::int64_t heads, key_dim, value_dim;
};

// The delta rule reads the state with the key, adds a product of key and value, and reads it with
// the query: 2 FLOP an element each.
constexpr double kDeltaRule = 6;
// Mamba adds the input's product and reads once.
constexpr double kStateSpace = 4;

void set_state(Mixer& mixer, Mixer::Kind kind, const State& state, double flop_per_element) {
    const auto elements = state.heads * state.key_dim * state.value_dim;
    mixer.kind = kind;
    mixer.heads = mixer.kv_heads = state.heads;
    mixer.key_dim = state.key_dim;
    mixer.value_dim = state.value_dim;
    mixer.state_elements += elements;
    mixer.state_flop = flop_per_element * static_cast<double>(elements);
}

// A matrix straight, or through a bottleneck of one head.
void add_gate(Tensors& tensors, const std::string& name, std::int64_t width, std::int64_t hidden,
              std::int64_t heads, bool full_rank) {
    if (full_rank) {
        tensors.by_output(name + "_proj", width, hidden, heads);
        return;
    }
    tensors.whole(name + "_a_proj", width / heads, hidden);
    tensors.by_output(name + "_b_proj", width, width / heads, heads);
}

}  // namespace

void add_kimi_delta_attention(Layer& layer, Tensors tensors, const Keys& linear,
                              std::int64_t hidden) {
    const auto heads = linear.integer({"num_heads"}, kHead);
    const auto dim = linear.integer({"head_dim"}, kHead);
    const auto kernel = linear.integer({"short_conv_kernel_size"}, {1, 1024});
    const auto width = heads * dim;
    for (const auto* name : {"q_proj", "k_proj", "v_proj"}) {
        tensors.by_output(name, width, hidden, heads);
    }
    for (const auto* name : {"q_conv1d", "k_conv1d", "v_conv1d"}) {
        add_convolution(layer, tensors, name, width, kernel, heads);
    }
    tensors.vector("A_log", heads, heads);
    tensors.vector("dt_bias", width, heads);
    add_gate(tensors, "f", width, hidden, heads, false);
    tensors.by_output("b_proj", heads, hidden, heads);
    add_gate(tensors, "g", width, hidden, heads, linear.flag_or({"use_full_rank_gate"}, false));
    tensors.norm("o_norm", dim);
    tensors.by_input("o_proj", hidden, width, heads);
    set_state(layer.mixer, Mixer::Kind::linear, {heads, dim, dim}, kDeltaRule);
}

void add_gated_delta_net(Layer& layer, Tensors tensors, const Keys& keys, std::int64_t hidden) {
    const auto key_heads = keys.integer({"linear_num_key_heads"}, kHead);
    const auto value_heads = keys.integer({"linear_num_value_heads"}, kHead);
    const auto key_dim = keys.integer({"linear_key_head_dim"}, kHead);
    const auto value_dim = keys.integer({"linear_value_head_dim"}, kHead);
    const auto kernel = keys.integer({"linear_conv_kernel_dim"}, {1, 1024});
    const auto values = value_heads * value_dim;
    const auto mixed = 2 * key_heads * key_dim + values;
    tensors.by_output("in_proj_qkv", mixed, hidden, key_heads);
    tensors.by_output("in_proj_z", values, hidden, value_heads);
    tensors.by_output("in_proj_b", value_heads, hidden, value_heads);
    tensors.by_output("in_proj_a", value_heads, hidden, value_heads);
    add_convolution(layer, tensors, "conv1d", mixed, kernel, key_heads);
    tensors.vector("A_log", value_heads, value_heads);
    tensors.vector("dt_bias", value_heads, value_heads);
    tensors.norm("norm", value_dim);
    tensors.by_input("out_proj", hidden, values, value_heads);
    set_state(layer.mixer, Mixer::Kind::linear, {value_heads, key_dim, value_dim}, kDeltaRule);
}

void add_mamba(Layer& layer, Tensors tensors, const Keys& keys, std::int64_t hidden) {
    const auto heads = keys.integer({"mamba_num_heads", "mamba_n_heads"}, kHead);
    const auto dim = keys.integer({"mamba_head_dim", "mamba_d_head"}, kHead);
    const auto groups = keys.integer_or({"n_groups", "mamba_n_groups"}, 1, kHead);
    const auto state = keys.integer({"ssm_state_size", "mamba_d_state"}, kHead);
    const auto kernel = keys.integer_or({"conv_kernel", "mamba_d_conv"}, 4, {1, 1024});
    const bool bias = keys.flag_or({"mamba_proj_bias", "use_bias"}, false);
    const auto width = heads * dim;
    const auto mixed = width + 2 * groups * state;
    tensors.by_output("in_proj", width + mixed + heads, hidden, groups, bias);
    add_convolution(layer, tensors, "conv1d", mixed, kernel, groups);
    if (keys.flag_or({"use_conv_bias", "mamba_conv_bias"}, true)) {
        tensors.bias("conv1d", mixed, Split::output, groups);
    }
    for (const auto* name : {"A_log", "D", "dt_bias"}) tensors.vector(name, heads, heads);
    tensors.norm("norm", width);
    tensors.by_input("out_proj", hidden, width, groups, bias);
    set_state(layer.mixer, Mixer::Kind::state_space, {heads, state, dim}, kStateSpace);
}

}  // namespace assay::model
