#include "model/quantisation.h"

#include <gmock/gmock.h>

#include "model/config.h"
#include "model/usage_error.h"

namespace assay::model {
namespace {

// A small model of Llama's kind with `more` keys: 2 layers of 256, 512 wide feed-forward.
Model with(const std::string& more) {
    return read_config(R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 512, "vocab_size": 1000,
        "torch_dtype": "float16")" +
                           more + "}",
                       "config.json");
}

const Tensor& tensor(const Model& model, std::string_view name) {
    for (const auto& t : model.shape.layers.front().tensors) {
        if (t.name == "model.layers.0." + std::string(name) + ".weight") return t;
    }
    throw std::out_of_range(std::string(name));
}

double bits(const Model& model, std::string_view name) {
    return bits_per_weight(model.storage, tensor(model, name));
}

const Tensor& head(const Model& model) {
    return model.shape.output.back();
}

TEST(Quantisation, WithoutOneEveryTensorHasTheConfigsType) {
    const auto model = with("");
    EXPECT_EQ(model.storage.name, "fp16");
    EXPECT_EQ(bits(model, "mlp.up_proj"), 16);
    EXPECT_EQ(stored_bytes(model.storage, model.shape.input.front()), 1000 * 256 * 2);
    EXPECT_EQ(stored_bytes(with(R"(, "dtype": "float32")").storage, tensor(model, "mlp.up_proj")),
              512 * 256 * 4);
}

TEST(Quantisation, Fp8BlocksHaveAScaleEach) {
    const auto model = with(R"(, "quantization_config": {"quant_method": "fp8",
        "weight_block_size": [128, 100], "modules_to_not_convert": ["o_proj"]})");
    const auto& up = tensor(model, "mlp.up_proj");  // 512 x 256: 4 x 3 blocks
    EXPECT_EQ(scale_elements(model.storage, up), 12);
    EXPECT_EQ(stored(model.storage, up).elements, 512 * 256);
    EXPECT_EQ(stored(model.storage, up).scales, 12 * 4);
    EXPECT_EQ(bits(model, "self_attn.o_proj"), 16);
    EXPECT_EQ(bits_per_weight(model.storage, head(model)), 16);
    EXPECT_EQ(bits_per_weight(model.storage, model.shape.input.front()), 16);
}

TEST(Quantisation, Mxfp4IsOfTheRoutedExperts) {
    const auto model = load_model("gpt-oss-20b");
    for (const auto& t : model.shape.layers.front().tensors) {
        const bool routed = t.copies > 1 && t.role == Role::projection;
        EXPECT_EQ(bits_per_weight(model.storage, t), routed ? 4.25 : 16) << t.name;
    }
}

TEST(Quantisation, CompressedTensorsIgnoresByNameAndExpression) {
    const auto model = load_model("kimi-k3");
    const auto& layer = model.shape.layers.at(3);
    for (const auto& t : layer.tensors) {
        const bool routed = t.copies > 1;
        EXPECT_EQ(bits_per_weight(model.storage, t), routed ? 4.25 : 16) << t.name;
    }
    EXPECT_EQ(bits_per_weight(model.storage, head(model)), 16);
}

TEST(Quantisation, CompressedTensorsFormats) {
    const auto of = [](const std::string& weights) {
        return with(R"(, "quantization_config": {"quant_method": "compressed-tensors",
            "format": "x", "ignore": ["lm_head", "re:.*down_proj"], "config_groups": {"group_0":
            {"targets": ["Linear"], "weights": {)" +
                    weights + "}}}}");
    };
    const auto int4 = of(R"("num_bits": 4, "type": "int", "strategy": "group", "group_size": 32)");
    EXPECT_EQ(bits(int4, "mlp.up_proj"), 4 + 16 / 32.0);
    EXPECT_EQ(bits(int4, "mlp.down_proj"), 16);
    EXPECT_EQ(bits_per_weight(int4.storage, head(int4)), 16);
    const auto uneven = of(
        R"("num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": false)");
    EXPECT_EQ(bits(uneven, "mlp.up_proj"), 4 + 20 / 32.0);
    const auto int8 = of(R"("num_bits": 8, "type": "int", "strategy": "channel")");
    EXPECT_EQ(bits(int8, "mlp.up_proj"), 8 + 16 / 256.0);
    const auto fp8 = of(R"("num_bits": 8, "type": "float", "strategy": "tensor")");
    EXPECT_EQ(stored(fp8.storage, tensor(fp8, "mlp.up_proj")).scales, 2);
    const auto block =
        of(R"("num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128])");
    EXPECT_EQ(scale_elements(block.storage, tensor(block, "mlp.up_proj")), 8);
    const auto fp4 =
        of(R"("num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16)");
    EXPECT_EQ(stored(fp4.storage, tensor(fp4, "mlp.up_proj")).scales, 512 * 16 + 4);
    expect_usage_error([&] { return of(R"("num_bits": 4, "strategy": "spiral")"); }, "spiral");
    expect_usage_error([&] { return of(R"("num_bits": 40)"); }, "num_bits");
}

TEST(Quantisation, CompressedTensorsGroupsByTarget) {
    const auto model = with(R"(, "quantization_config": {"config_groups": {
        "a": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "int",
              "strategy": "channel"}},
        "b": {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 4, "type": "int",
              "strategy": "group", "group_size": 64}}}})");
    EXPECT_EQ(bits(model, "self_attn.q_proj"), 8 + 16 / 256.0);
    EXPECT_EQ(bits(model, "mlp.up_proj"), 4.25);
}

TEST(Quantisation, GptqAndAwq) {
    // 4 bits, an FP16 scale and 4 bits of zero for 128; GPTQ's int32 for each input, of 512 rows.
    const auto gptq =
        with(R"(, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128})");
    EXPECT_EQ(bits(gptq, "mlp.up_proj"), 4 + 20 / 128.0 + 32 / 512.0);
    EXPECT_EQ(bits_per_weight(gptq.storage, head(gptq)), 16);
    const auto awq = with(R"(, "quantization_config": {"quant_method": "awq", "bits": 4,
        "group_size": 64, "modules_to_not_convert": ["self_attn"]})");
    EXPECT_EQ(bits(awq, "mlp.up_proj"), 4 + 20 / 64.0);
    EXPECT_EQ(bits(awq, "self_attn.k_proj"), 16);
    const auto rows =
        with(R"(, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": -1})");
    EXPECT_EQ(bits(rows, "mlp.up_proj"), 4 + 20 / 256.0);
}

TEST(Quantisation, BitsAndBytes) {
    const auto four =
        with(R"(, "quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": true})");
    EXPECT_EQ(bits(four, "mlp.up_proj"), 4 + 32 / 64.0);
    const auto twice = with(R"(, "quantization_config": {"load_in_4bit": true,
        "bnb_4bit_use_double_quant": true})");
    EXPECT_EQ(bits(twice, "mlp.up_proj"), 4 + 8 / 64.0 + 32.0 / (64 * 256));
    const auto eight = with(R"(, "quantization_config": {"load_in_8bit": true,
        "llm_int8_skip_modules": ["lm_head", "up_proj"]})");
    EXPECT_EQ(bits(eight, "mlp.gate_proj"), 8 + 32 / 256.0);
    EXPECT_EQ(bits(eight, "mlp.up_proj"), 16);
    expect_usage_error(
        [&] { return with(R"(, "quantization_config": {"quant_method": "bitsandbytes"})"); },
        "load_in_4bit");
}

TEST(Quantisation, Modelopt) {
    const auto nvfp4 = with(R"(, "quantization": {"quant_algo": "NVFP4", "group_size": 16,
        "exclude_modules": ["lm_head", "model.layers.0.self_attn*"]})");
    EXPECT_EQ(stored(nvfp4.storage, tensor(nvfp4, "mlp.up_proj")).scales, 512 * 16 + 8);
    EXPECT_EQ(bits(nvfp4, "self_attn.q_proj"), 16);
    EXPECT_EQ(bits_per_weight(nvfp4.storage, head(nvfp4)), 16);
    expect_usage_error([&] { return with(R"(, "quantization": {"quant_algo": "W2A2"})"); }, "w2a2");
}

TEST(Quantisation, ModeloptNamesModules) {
    const auto model = with(R"(, "quantization": {"quant_algo": "MIXED_PRECISION",
        "quantized_layers": {"model.layers.0.mlp": {"quant_algo": "NVFP4", "group_size": 16},
                             "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
                             "layers.9.ffn.experts.3.w1": {"quant_algo": "FP8"}}})");
    EXPECT_EQ(stored(model.storage, tensor(model, "mlp.up_proj")).scales, 512 * 16 + 8);
    EXPECT_EQ(stored(model.storage, tensor(model, "self_attn.q_proj")).elements, 256 * 256);
    EXPECT_EQ(bits(model, "self_attn.o_proj"), 16);
}

TEST(Quantisation, AGivenTypeReplacesTheConfigs) {
    const auto model = load_model("kimi-k3", {.weights = "bf16"});
    EXPECT_NEAR(weight_bytes(model.shape, model.storage).main, 2 * 2'779.484e9, 1e9);
    const auto llama = load_model("llama3-8b", {.weights = "int4"});
    EXPECT_EQ(bits_per_weight(llama.storage, llama.shape.layers[0].tensors[0]), 4 + 16 / 128.0);
    expect_usage_error([&] { return load_model("llama3-8b", {.weights = "int3"}); }, "int3");
}

TEST(Quantisation, TiedTensorsTakeNothing) {
    const auto model = with(R"(, "tie_word_embeddings": true)");
    EXPECT_EQ(stored_bytes(model.storage, head(model)), 0);
}

TEST(Quantisation, AGivenTypeNeedsNoConfigThatIsKnown) {
    const auto config = R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1,
        "num_attention_heads": 4, "vocab_size": 100, "quantization_config":
        {"quant_method": "magic"}})";
    expect_usage_error([&] { return read_config(config, "config.json"); }, "magic");
    EXPECT_EQ(read_config(config, "config.json", {.weights = "int8"}).storage.name, "int8");
}

TEST(Quantisation, UnknownMethodsAndPatternsAreNamed) {
    expect_usage_error(
        [&] { return with(R"(, "quantization_config": {"quant_method": "magic"})"); }, "magic");
    expect_usage_error(
        [&] {
            return with(R"(, "quantization_config": {"quant_method": "compressed-tensors",
        "ignore": ["re:(("]})");
        },
        "((");
    expect_usage_error(
        [&] { return with(R"(, "quantization_config": {"quant_method": "gptq", "bits": 400})"); },
        "bits");
    expect_usage_error([&] { return with(R"(, "dtype": "fp128")"); }, "fp128");
}

// accelerate estimates "128.15 GB" for Llama-2-70B in FP16: those are GiB.
TEST(Quantisation, GigabytesAreNotGibibytes) {
    const auto model = load_model("llama2-70b");
    const double bytes = weight_bytes(model.shape, model.storage).total();
    constexpr double kGiB = 1024.0 * 1024 * 1024;
    EXPECT_NEAR(bytes / 1e9, 137.95, 0.005);
    EXPECT_NEAR(bytes / kGiB, 128.48, 0.005);
    EXPECT_LT(std::abs(128.15 * kGiB / bytes - 1), 0.003);
    EXPECT_GT(std::abs(128.15e9 / bytes - 1), 0.07);
}

}  // namespace
}  // namespace assay::model
