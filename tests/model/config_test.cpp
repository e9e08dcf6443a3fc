#include "model/config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/json.h"
#include "base/scratch.h"
#include "model/cache.h"
#include "model/counts.h"
#include "model/family.h"
#include "model/usage_error.h"

namespace assay::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Json llama() {
    return Json{{"model_type", "llama"},    {"hidden_size", 64}, {"num_hidden_layers", 2},
                {"num_attention_heads", 4}, {"vocab_size", 100}, {"intermediate_size", 128},
                {"torch_dtype", "bfloat16"}};
}

Json mixture() {
    auto json = llama();
    json["model_type"] = "deepseek_v3";
    json.update({{"n_routed_experts", 8},
                 {"num_experts_per_tok", 2},
                 {"n_shared_experts", 1},
                 {"moe_intermediate_size", 32},
                 {"kv_lora_rank", 16},
                 {"q_lora_rank", 24},
                 {"qk_nope_head_dim", 8},
                 {"qk_rope_head_dim", 4},
                 {"v_head_dim", 8}});
    return json;
}

Model read(const Json& json, const ConfigOptions& options = {}) {
    return read_config(dump_line(json), "config.json", options);
}

Json changed(Json json, const Json& changes) {
    json.update(changes);
    return json;
}

Json renamed(Json json, const std::string& from, const std::string& to) {
    json[to] = json.at(from);
    json.erase(from);
    return json;
}

TEST(Config, EveryAliasIsTheSameModel) {
    const auto plain = count(read(llama()).shape).total;
    EXPECT_EQ(plain, 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 2 * 100 * 64 + 64);
    for (const auto& [from, to] : {std::pair{"hidden_size", "n_embd"},
                                   {"hidden_size", "d_model"},
                                   {"num_hidden_layers", "n_layer"},
                                   {"num_hidden_layers", "n_layers"},
                                   {"num_attention_heads", "n_head"},
                                   {"intermediate_size", "n_inner"},
                                   {"vocab_size", "padded_vocab_size"}}) {
        EXPECT_EQ(count(read(renamed(llama(), from, to)).shape).total, plain) << to;
    }
    const auto routed = count(read(mixture()).shape);
    for (const auto& [from, to] : {std::pair{"n_routed_experts", "num_experts"},
                                   {"n_routed_experts", "num_local_experts"},
                                   {"num_experts_per_tok", "num_experts_per_token"},
                                   {"num_experts_per_tok", "experts_per_token"},
                                   {"n_shared_experts", "num_shared_experts"}}) {
        const auto again = count(read(renamed(mixture(), from, to)).shape);
        EXPECT_EQ(again.total, routed.total) << to;
        EXPECT_EQ(again.active, routed.active) << to;
    }
    // The shared expert by its width, in place of a number of the routed ones' width.
    auto by_width = mixture();
    by_width.erase("n_shared_experts");
    by_width["shared_expert_intermediate_size"] = 32;
    EXPECT_EQ(count(read(by_width).shape).total, routed.total);
    // An expert's width is the plain one where it has none of its own.
    auto plain_width = mixture();
    plain_width.erase("moe_intermediate_size");
    plain_width["intermediate_size"] = 32;
    EXPECT_EQ(count(read(plain_width).shape).total, routed.total);
}

TEST(Config, NestedLanguageModelsAreRead) {
    auto text = llama();
    const Json nested{{"model_type", "llava"}, {"text_config", text}, {"torch_dtype", "bfloat16"}};
    EXPECT_EQ(count(read(nested).shape).total, count(read(llama()).shape).total);
    text.erase("hidden_size");
    expect_usage_error(
        [&] {
            read(changed(nested, {{"text_config", text}}));
        },
        R"("text_config.hidden_size" is missing)");
}

TEST(Config, HeadDimIsAsGivenElseOfTheHiddenSize) {
    EXPECT_EQ(read(llama()).shape.layers[0].mixer.key_dim, 16);
    EXPECT_EQ(read(changed(llama(), {{"head_dim", 40}})).shape.layers[0].mixer.key_dim, 40);
    expect_usage_error(
        [] {
            read(changed(llama(), {{"num_attention_heads", 7}}));
        },
        "num_attention_heads");
    // Of MLA the hidden size over the heads would be 16 too, and mean nothing.
    const auto mixer = read(mixture()).shape.layers[0].mixer;
    EXPECT_EQ(mixer.key_dim, 12);
    EXPECT_EQ(mixer.cache.at(0).elements, 20);
}

TEST(Config, MissingKeysAreNamedWithTheirAliases) {
    const auto without = [](const char* key) {
        auto json = mixture();
        json.erase(key);
        return json;
    };
    expect_usage_error([&] { read(without("num_hidden_layers")); },
                       R"(config.json: "num_hidden_layers" is missing, and so is "n_layer",)");
    expect_usage_error([&] { read(without("num_experts_per_tok")); },
                       R"("num_experts_per_tok" is missing, and so is "num_experts_per_token")");
    expect_usage_error([&] { read(without("vocab_size")); }, R"("vocab_size" is missing)");
    expect_usage_error([&] { read(without("v_head_dim")); }, R"("v_head_dim" is missing)");
    expect_usage_error(
        [] {
            read(changed(llama(), {{"hidden_size", nullptr}}));
        },
        R"("hidden_size" is missing)");
}

TEST(Config, AbsurdValuesAreNamed) {
    const auto fails = [](const Json& changes, const std::string& part) {
        expect_usage_error([&] { read(changed(mixture(), changes)); }, part);
    };
    fails({{"num_hidden_layers", 0}},
          R"("num_hidden_layers" is 0, expected a whole number from 1)");
    fails({{"hidden_size", -64}}, R"("hidden_size" is -64)");
    fails({{"hidden_size", 64.5}}, R"("hidden_size" is 64.5)");
    fails({{"hidden_size", "64"}}, R"("hidden_size" is "64")");
    fails({{"vocab_size", 1e30}}, "vocab_size");
    fails({{"hidden_size", 18446744073709551615ULL}}, R"("hidden_size" is 18446744073709551615)");
    fails({{"num_hidden_layers", 1'000'000}}, "num_hidden_layers");
    fails({{"num_experts_per_tok", 9}}, "more than there are experts");
    fails({{"tie_word_embeddings", "yes"}}, R"("tie_word_embeddings" is neither true nor false)");
    fails({{"model_type", 3}}, R"("model_type" is no text)");
    fails({{"hidden_size", 1 << 20},
           {"moe_intermediate_size", 1 << 20},
           {"n_routed_experts", 1'000'000}},
          "parameters");
    expect_usage_error([] { read_config("[1]", "x.json"); }, "x.json: the document is no table");
    expect_usage_error([] { read_config("{", "x.json"); }, "x.json: byte");
    expect_usage_error([] { load_config("no/such/config.json"); }, "no/such/config.json");
}

TEST(Config, TenThousandExpertsAreFine) {
    const auto shape = read(changed(mixture(), {{"n_routed_experts", 10'000}})).shape;
    EXPECT_EQ(shape.layers[0].feed_forward.experts, 10'000);
    EXPECT_EQ(count(shape).total - count(read(mixture()).shape).total,
              2 * (9'992LL * (3 * 64 * 32 + 64 + 1)));
}

TEST(Config, UnknownTypesAreNamedAndAssumedOnlyWhenAsked) {
    const auto odd = changed(llama(), {{"model_type", "lllama"}});
    expect_usage_error([&] { read(odd); },
                       R"(unknown "model_type" "lllama", did you mean "llama"?)");
    try {
        read(odd);
    } catch (const UsageError& e) {
        EXPECT_THAT(e.hint(), HasSubstr("--assume reads it as a decoder as Llama's"));
    }
    const auto assumed = read(odd, {.assume = true}).shape;
    EXPECT_EQ(count(assumed).total, count(read(llama()).shape).total);
    EXPECT_THAT(assumed.assumed, ElementsAre(HasSubstr(R"("lllama" is read as)")));
    EXPECT_THAT(read(llama(), {.assume = true}).shape.assumed, IsEmpty());
    auto none = llama();
    none.erase("model_type");
    expect_usage_error([&] { read(none); }, R"("model_type" is missing)");
    // Its keys still say that it is a mixture with latent attention.
    const auto mixed = read(changed(mixture(), {{"model_type", "new"}}), {.assume = true}).shape;
    EXPECT_EQ(mixed.layers[0].kind(), "MLA, 8 experts of 32");
}

std::vector<std::string> kinds(const Json& json) {
    std::vector<std::string> kinds;
    for (const auto& layer : read(json).shape.layers) kinds.push_back(layer.kind());
    return kinds;
}

TEST(Config, LayersDifferAsTheListsSay) {
    const auto four = changed(llama(), {{"num_hidden_layers", 4}, {"sliding_window", 32}});
    const std::string full = "MHA, dense 128", window = "MHA window 32, dense 128";
    EXPECT_THAT(kinds(four), ElementsAre(window, window, window, window));
    EXPECT_THAT(kinds(changed(four, {{"sliding_window_pattern", 2}})),
                ElementsAre(window, full, window, full));
    EXPECT_THAT(kinds(changed(four, {{"sliding_window_pattern", "LLG"}})),
                ElementsAre(window, window, full, window));
    EXPECT_THAT(
        kinds(changed(
            four, {{"layer_types",
                    {"full_attention", "sliding_attention", "full_attention", "full_attention"}}})),
        ElementsAre(full, window, full, full));
    EXPECT_THAT(kinds(changed(four, {{"hybrid_layer_pattern", {1, 0, 0, 1}}})),
                ElementsAre(window, full, full, window));
    EXPECT_THAT(kinds(changed(four, {{"use_sliding_window", false}})),
                ElementsAre(full, full, full, full));
    EXPECT_THAT(kinds(changed(four, {{"use_sliding_window", true}, {"max_window_layers", 3}})),
                ElementsAre(full, full, full, window));
    expect_usage_error(
        [&] {
            kinds(changed(four, {{"layer_types", {"full_attention"}}}));
        },
        R"("layer_types" lists 1 layers of 4)");
    expect_usage_error(
        [&] {
            kinds(changed(four, {{"layer_types", {"spiral", "spiral", "spiral", "spiral"}}}));
        },
        R"("layer_types" has layers of an unknown kind, "spiral")");
}

TEST(Config, RoutedLayersAreThoseTheKeysName) {
    const auto four = changed(mixture(), {{"num_hidden_layers", 4}});
    const std::string routed = "MLA, 8 experts of 32", dense = "MLA, dense 128";
    EXPECT_THAT(kinds(four), ElementsAre(routed, routed, routed, routed));
    EXPECT_THAT(kinds(changed(four, {{"first_k_dense_replace", 3}})),
                ElementsAre(dense, dense, dense, routed));
    EXPECT_THAT(kinds(changed(four, {{"moe_layer_freq", {0, 1, 0, 1}}})),
                ElementsAre(dense, routed, dense, routed));
    EXPECT_THAT(kinds(changed(four, {{"moe_layer_freq", 2}, {"first_k_dense_replace", 1}})),
                ElementsAre(dense, dense, routed, dense));
    EXPECT_THAT(kinds(changed(four, {{"interleave_moe_layer_step", 2}})),
                ElementsAre(dense, routed, dense, routed));
    EXPECT_THAT(kinds(changed(four, {{"mlp_only_layers", {2}}})),
                ElementsAre(routed, routed, dense, routed));
    EXPECT_THAT(kinds(changed(four, {{"mlp_layer_types", {"dense", "sparse", "sparse", "dense"}}})),
                ElementsAre(dense, routed, routed, dense));
}

// Layers of one part each, by letters or by words, and predicting layers by letters of their own.
TEST(Config, HybridsHaveLayersOfOnePart) {
    auto json = changed(llama(), {{"model_type", "nemotron_h"},
                                  {"num_hidden_layers", 4},
                                  {"hybrid_override_pattern", "M*E-"},
                                  {"mamba_num_heads", 4},
                                  {"mamba_head_dim", 8},
                                  {"ssm_state_size", 16},
                                  {"n_groups", 2},
                                  {"n_routed_experts", 8},
                                  {"num_experts_per_tok", 2},
                                  {"moe_intermediate_size", 32},
                                  {"num_nextn_predict_layers", 1},
                                  {"mtp_hybrid_override_pattern", "*E"}});
    const auto layers = ElementsAre("Mamba", "MHA", "8 experts of 32", "dense 128");
    EXPECT_THAT(kinds(json), layers);
    const auto shape = read(json).shape;
    ASSERT_EQ(shape.predictors.size(), 2U);
    EXPECT_EQ(shape.predictors[1].kind(), "8 experts of 32");
    // Beside the two layers: what joins state and embedding, and three norms.
    EXPECT_EQ(count(shape).predictors, count(shape).kinds[1].parameters +
                                           count(shape).kinds[2].parameters + 2 * 64 * 64 + 3 * 64);
    json.erase("hybrid_override_pattern");
    json["layers_block_type"] = {"mamba", "attention", "moe", "mlp"};
    EXPECT_THAT(kinds(json), layers);
    json["layers_block_type"] = {"mamba", "attention", "mamba", "attention"};
    json["n_routed_experts"] = nullptr;
    json["num_nextn_predict_layers"] = 0;
    EXPECT_THAT(kinds(json), ElementsAre("Mamba, dense 128", "MHA, dense 128", "Mamba, dense 128",
                                         "MHA, dense 128"));
}

TEST(Config, BlocksMayLeaveOutAPart) {
    const auto json = changed(
        llama(), {{"model_type", "nemotron-nas"},
                  {"block_configs",
                   {{{"attention", {{"no_op", true}}}, {"ffn", {{"ffn_mult", 3.0}}}},
                    {{"attention", {{"n_heads_in_group", 4}}}, {"ffn", {{"no_op", true}}}}}}});
    EXPECT_THAT(kinds(json), ElementsAre("dense 256", "MQA"));  // 2/3 x 3 x 64, up to 256
    expect_usage_error(
        [&] {
            kinds(changed(json,
                          {{"block_configs", {{{"ffn", {{"ffn_mult", -1}}}}, Json::object()}}}));
        },
        R"("block_configs[0].ffn.ffn_mult")");
}

TEST(Config, TiedHeadsCountOnce) {
    const auto tied = read(changed(llama(), {{"tie_word_embeddings", true}})).shape;
    EXPECT_EQ(count(read(llama()).shape).total - count(tied).total, 100 * 64);
    EXPECT_EQ(count(tied).head, 0);
    EXPECT_EQ(count(tied).embedding, 100 * 64);
    EXPECT_TRUE(tied.output.back().tied);
}

TEST(Config, GroupedQueriesKeepFewerKeys) {
    const auto grouped = read(changed(llama(), {{"num_key_value_heads", 2}})).shape;
    EXPECT_EQ(cache_bytes_per_token(grouped, cache_type("bf16")) * 2,
              cache_bytes_per_token(read(llama()).shape, cache_type("bf16")));
    expect_usage_error(
        [] {
            read(changed(llama(), {{"num_key_value_heads", 3}}));
        },
        "num_key_value_heads");
}

// Gemma: the last layers read the keys and values of earlier ones, and each layer has an embedding.
TEST(Config, LayersMayShareKeysAndHaveInputsOfTheirOwn) {
    const auto gemma = changed(llama(), {{"model_type", "gemma4_text"}, {"num_hidden_layers", 4}});
    const auto plain = count(read(gemma).shape).total;
    const auto sharing = read(changed(gemma, {{"num_kv_shared_layers", 3}})).shape;
    const auto& type = cache_type("bf16");
    EXPECT_EQ(cache_bytes_per_token(sharing, type) * 4,
              cache_bytes_per_token(read(gemma).shape, type));
    EXPECT_EQ(plain - count(sharing).total, 3 * (2 * 64 * 64 + 16));
    EXPECT_EQ(keys_met(sharing.layers[3].mixer, 100), 100);  // it still reads them
    const auto inputs = read(changed(gemma, {{"hidden_size_per_layer_input", 8},
                                             {"vocab_size_per_layer_input", 90}}))
                            .shape;
    EXPECT_EQ(count(inputs).total - plain, 90 * 4 * 8 + 4 * 8 * 64 + 8 + 4 * (2 * 8 * 64 + 64));
    expect_usage_error(
        [&] {
            read(changed(gemma, {{"num_kv_shared_layers", 4}}));
        },
        "num_kv_shared_layers");
}

TEST(Config, FoldersMayHoldTheirQuantisationBeside) {
    Scratch scratch;
    write_file(scratch / "config.json", dump_line(llama()));
    EXPECT_EQ(load_config(scratch.path()).storage.name, "bf16");
    EXPECT_EQ(load_config(scratch.path()).shape.name, scratch.path().filename());
    write_file(scratch / "hf_quant_config.json",
               R"({"quantization": {"quant_algo": "NVFP4", "group_size": 16}})");
    EXPECT_EQ(load_config(scratch.path()).storage.name, "modelopt nvfp4");
    EXPECT_EQ(load_config(scratch / "config.json").storage.name, "modelopt nvfp4");
}

TEST(Config, FamiliesAreMadeAsTheirClassesAre) {
    const auto has = [](const char* type, const char* tensor) {
        const auto shape =
            read_config(fmt::format(R"({{"model_type": "{}", "hidden_size": 64, "vocab_size": 100,
                "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 128}})",
                                    type),
                        type)
                .shape;
        return std::ranges::any_of(shape.layers.front().tensors, [&](const Tensor& t) {
            return t.name.find(tensor) != std::string::npos;
        });
    };
    EXPECT_TRUE(has("llama", "gate_proj"));
    EXPECT_FALSE(has("arcee", "gate_proj"));
    EXPECT_TRUE(has("arcee", "up_proj"));
    EXPECT_TRUE(has("dots1", "q_norm"));
    EXPECT_TRUE(has("dots1", "k_norm"));
    EXPECT_FALSE(has("cohere", "q_norm"));
}

TEST(Config, ANameMayTellOfAQuantisationThatTheConfigLacks) {
    Scratch scratch;
    const auto file = scratch / "tiny-NVFP4.json";
    write_file(file, read_input_file(data_dir() / "models" / "qwen3-8b.json"));
    EXPECT_THAT(load_config(file).shape.unknown,
                ElementsAre(HasSubstr("hf_quant_config.json, which isn't here")));
    EXPECT_TRUE(load_config(file, {.weights = "nvfp4"}).shape.unknown.empty());
    EXPECT_THAT(load_model("deepseek-v3.1-nvfp4").shape.unknown,
                ElementsAre(HasSubstr("--weights nvfp4")));
    EXPECT_TRUE(load_model("qwen3-30b-a3b-fp8").shape.unknown.empty());
}

TEST(Config, OnlyRegularFilesOfASensibleSizeAreRead) {
    expect_usage_error([] { load_config("/dev/zero"); }, "/dev/zero: is no regular file");
    Scratch scratch;
    const auto file = scratch / "config.json";
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    expect_usage_error([&] { load_config(scratch.path()); }, "is no regular file");
    std::filesystem::remove(file);
    write_file(file, "{}");
    std::filesystem::resize_file(file, (64U << 20) + 1);
    expect_usage_error([&] { load_config(file); }, "67108865 bytes are too many");
}

TEST(Config, ModelsAreFoundByNameOrPath) {
    EXPECT_EQ(load_model("llama3-8b").shape.name, "llama3-8b");
    expect_usage_error([] { load_model("llama3-8"); }, R"(unknown model "llama3-8")");
    Scratch scratch;
    write_file(scratch / "mine.json", dump_line(llama()));
    EXPECT_EQ(load_model((scratch / "mine.json").string()).shape.name, "mine");
}

TEST(Config, NoTypeIsInTwoFamilies) {
    auto types = family_types();
    std::ranges::sort(types);
    EXPECT_EQ(std::ranges::adjacent_find(types), types.end());
    EXPECT_THAT(find_family("spiral"), testing::IsNull());
}

// What tensor parallelism may cut, and into what.
TEST(Config, TensorsSayHowTheyAreDivided) {
    const auto shape = load_model("llama3-8b").shape;
    std::vector<std::string> splits;
    for (const auto& t : shape.layers[0].tensors) {
        const char* split = t.split == Split::output  ? "output"
                            : t.split == Split::input ? "input"
                                                      : "whole";
        splits.push_back(fmt::format("{} {} {}", t.name.substr(15), split, t.units));
    }
    EXPECT_THAT(splits,
                ElementsAre("self_attn.q_proj.weight output 32", "self_attn.k_proj.weight output 8",
                            "self_attn.v_proj.weight output 8", "self_attn.o_proj.weight input 32",
                            "mlp.gate_proj.weight output 0", "mlp.up_proj.weight output 0",
                            "mlp.down_proj.weight input 0", "input_layernorm.weight whole 0",
                            "post_attention_layernorm.weight whole 0"));
    EXPECT_EQ(shape.input[0].split, Split::vocabulary);
}

}  // namespace
}  // namespace assay::model
