// Attention as the graphs that cuDNN's attention kernels know: a product, a softmax and a product,
// each tensor between them named. A graph of another structure still runs, on slower kernels.
#pragma once

#include "cuda/cudnn/entries.h"
#include "cuda/cudnn/graph.h"
#include "work/attention.h"

namespace assay::cuda {

// The tensors that have an address, by the id they have in both graphs.
enum AttentionId : TensorId {
    id_q = 1,
    id_k,
    id_v,
    id_o,
    id_lse,
    id_d_o,
    id_d_q,
    id_d_k,
    id_d_v,
    id_query_lengths,
    id_key_lengths,
    id_offsets,  // of q; k, v, o and lse follow
    id_delta = id_offsets + work::kAttentionTensors,
    id_d_q_sum,    // fp32, before it is rounded into d_q
    id_d_k_heads,  // of each query head, before those of a group are added
    id_d_v_heads,
};

// How large the scratch of entries back to back may be taken: as their tokens, or as if all were as
// long as the longest. Kernels for one architecture have faults with the first.
enum class ScratchSize { by_token, by_longest };

CudnnGraph cudnn_attention_graph(const work::Attention& problem, const CudnnEntries& entries,
                                 work::AttentionPass pass, ScratchSize scratch);

}  // namespace assay::cuda
