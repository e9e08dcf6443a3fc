#include "model/compressed_attention.h"

#include "model/latent_attention.h"

namespace assay::model {
namespace {

constexpr Bounds kHead{1, 1 << 14};
// At this ratio entries overlap: each is made from twice the tokens, in two halves.
constexpr std::int64_t kOverlapping = 4;

struct Compressor {
    std::int64_t hidden, dim, ratio;
};

void add_compressor(Tensors tensors, const Compressor& c) {
    const auto width = c.dim * (c.ratio == kOverlapping ? 2 : 1);
    for (const auto* name : {"wkv", "wgate"}) {
        tensors.whole(name, width, c.hidden);
        tensors.last().keeps_type = true;
    }
    tensors.add({.name = "ape", .shape = {c.ratio, width}, .role = Role::vector});
    tensors.norm("norm", c.dim);
}

void add_indexer(Layer& layer, Tensors tensors, const Indexer& indexer, const Compressor& c,
                 std::int64_t query_rank) {
    tensors.whole("wq_b", indexer.heads * indexer.dim, query_rank);
    tensors.whole("weights_proj", indexer.heads, c.hidden);
    tensors.last().keeps_type = true;
    add_compressor(tensors.within("compressor."), {c.hidden, indexer.dim, c.ratio});
    layer.mixer.top_k = indexer.top_k;
    layer.mixer.index_heads = indexer.heads;
    layer.mixer.index_dim = indexer.dim;
    layer.mixer.cache.push_back(
        {.what = "indexer key", .elements = indexer.dim, .stride = c.ratio});
}

}  // namespace

void add_compressed_attention(Layer& layer, Tensors tensors, const Keys& keys, std::int64_t hidden,
                              std::int64_t ratio) {
    const auto heads = keys.integer({"num_attention_heads"}, kHead);
    const auto dim = keys.integer({"head_dim"}, kHead);
    const auto query_rank = keys.integer({"q_lora_rank"});
    const auto groups = keys.integer({"o_groups"}, kHead);
    const auto output_rank = keys.integer({"o_lora_rank"});
    const auto window = keys.integer({"sliding_window"}, kTokens);
    if (heads % groups != 0) keys.fail("o_groups", "doesn't divide the heads");

    auto& mixer = layer.mixer;
    mixer.kind = Mixer::Kind::latent;
    mixer.heads = heads;
    mixer.kv_heads = 1;
    mixer.key_dim = mixer.value_dim = dim;
    mixer.window = window;
    const auto rotary = keys.integer({"qk_rope_head_dim"}, {0, dim});
    const CacheEntry entry{.what = "latent", .elements = dim, .rotary = rotary, .window = window};
    mixer.cache.push_back(entry);

    tensors.whole("wq_a", query_rank, hidden);
    tensors.norm("q_norm", query_rank);
    tensors.by_output("wq_b", heads * dim, query_rank, heads);
    tensors.whole("wkv", dim, hidden);
    tensors.norm("kv_norm", dim);
    tensors.by_output("wo_a", groups * output_rank, heads / groups * dim, groups);
    tensors.by_input("wo_b", hidden, groups * output_rank, groups);
    tensors.vector("attn_sink", heads, heads);
    if (ratio == 0) return;

    mixer.stride = ratio;
    mixer.cache.push_back(
        {.what = "compressed latent", .elements = dim, .rotary = rotary, .stride = ratio});
    const Compressor compressor{hidden, dim, ratio};
    add_compressor(tensors.within("compressor."), compressor);
    if (ratio != kOverlapping) return;
    if (const auto indexer = read_indexer(keys)) {
        add_indexer(layer, tensors.within("indexer."), *indexer, compressor, query_rank);
    }
}

void add_hyper_connection(Tensors tensors, std::int64_t hidden, std::int64_t streams) {
    const auto maps = (2 + streams) * streams;  // read, write, and stream to stream
    tensors.whole("fn", maps, streams * hidden);
    tensors.last().keeps_type = true;
    tensors.vector("base", maps);
    tensors.vector("scale", 3);
}

void add_hyper_head(Tensors tensors, std::int64_t hidden, std::int64_t streams) {
    tensors.whole("fn", streams, streams * hidden);
    tensors.last().keeps_type = true;
    tensors.vector("base", streams);
    tensors.vector("scale", 1);
}

}  // namespace assay::model
