// The memory planner: bytes that one device holds of a model under a layout, in inference and in
// training. Everything is exact but activations and workspace, which are said to be estimates.
//
// Weights, gradients, optimizer: of each tensor what its rank holds (layout.h share_of_rank): split
// along heads, columns, vocabulary or experts, padded where that doesn't divide, whole where it is
// replicated. ZeRO stage 1 divides the optimizer's states over the replicas of a slice, 2 the
// gradients too, 3 the weights too (Rajbhandari et al., arXiv 1910.02054); experts have fewer
// replicas than the rest. What lies beside the language model (a vision tower) is frozen: it has
// weights alone, whole on each rank of the first stage.
//
// KV cache of a request: as cache.h counts it. Key-value heads are divided by tensor / context
// ranks, the tokens by `context`; a latent (MLA) has no heads to divide and lies whole on every
// rank of the tensor group. State: of linear and state-space layers, divided by heads.
//
// Activations in training, a token and layer, of bf16: per sublayer its input and the norm's output
// (hidden each), the outputs of the projections, and the inputs of those that are split along their
// inputs (attention's and the non-linearity's output); nothing quadratic, for attention is fused.
// Llama-3-8B: 139 KB. Megatron-LM's sequence parallelism divides the residual stream by `tensor`
// (Korthikanti et al., arXiv 2205.05198, which has the same sum for GPT: 34 s b h with dropout and
// a 4 h feed-forward). Stage i of p keeps p - i micro-batches (one forward, one backward). The last
// stage holds logits in fp32, 4 bytes x vocabulary.
// In inference: one chunk of prefill through the widest half layer, residual stream and its copy.
//
// Workspace: an allowance for what no formula gives: the device's context, collective buffers,
// captured graphs, kernels' scratch and the logits of sampled tokens. ai-dynamo/aiconfigurator
// keeps 3.5 GiB (systems/*.yaml, other_mem). In training with ZeRO 3, also two gathered layers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cache.h"
#include "model/holdings.h"
#include "model/layout.h"
#include "model/optimizer_layout.h"

namespace assay::model {

inline constexpr double kWorkspaceBytes = 3.5 * 1024 * 1024 * 1024;
// Tokens of one prefill step (vLLM's max_num_batched_tokens on a server).
inline constexpr std::int64_t kPrefillChunk = 8192;

// What is computed again in the backward pass instead of kept.
enum class Recompute {
    nothing,
    norms,  // norms' and non-linearities' outputs
    full,   // all but each layer's input
};
std::string_view name(Recompute recompute);
Recompute parse_recompute(std::string_view word);  // throws UsageError

struct Training {
    OptimizerLayout optimizer = find_optimizer_layout("megatron");
    int zero = 0;  // 0 to 3
    Recompute recompute = Recompute::nothing;
};

struct Use {
    std::int64_t context = 0;  // tokens of a request, or of a training sequence
    // Inference: requests over all replicas. Training: sequences of a micro-batch of one replica.
    std::int64_t batch = 1;
    CacheType cache = cache_type("bf16");
    double state_bytes = 4;  // an element of a recurrent state: engines keep it in fp32
    std::int64_t chunk = kPrefillChunk;
    double workspace = kWorkspaceBytes;
    std::optional<Training> training;

    Purpose purpose() const { return training ? Purpose::training : Purpose::inference; }
};

// Bytes of one device.
struct Memory {
    double weights = 0;
    double gradients = 0;
    double optimizer = 0;
    double kv_cache = 0;
    double state = 0;
    double activations = 0;
    double workspace = 0;

    double total() const;
    // What grows with the batch: cache and state, in training the activations.
    double variable(Purpose purpose) const;
    double fixed(Purpose purpose) const { return total() - variable(purpose); }
};

// Of a device of stage 0 .. layout.pipeline - 1: all of a stage hold the same, as padded.
Memory memory_of(const Holdings& holdings, const Layout& layout, const Use& use, int stage);
// The same without what neither batch nor context changes: memory_of().variable(), sooner.
double variable_bytes(const Holdings& holdings, const Layout& layout, const Use& use, int stage);

}  // namespace assay::model
