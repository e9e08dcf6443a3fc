#!/usr/bin/env python3
"""torch on a GPU: attention by cuDNN, by its flash kernel and by compiled FlexAttention."""

import peer
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch_cuda_timing import Timed

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
BACKENDS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


def flex_mask(problem):
    """What the problem's mask says, as FlexAttention wants it: None where every key is seen."""
    window, prefix = problem.get("window", 0), problem.get("prefix", 0)
    documents = problem.get("documents", [])
    if not problem["causal"]:
        return None
    lengths = torch.tensor(documents or [problem["queries"]])
    document = torch.repeat_interleave(torch.arange(len(lengths)), lengths).cuda()

    def seen(_batch, _head, i, j):
        mask = i >= j
        if window:
            mask = mask & (i - j < window)
        if prefix:
            mask = mask | (j < prefix)
        if documents:
            mask = mask & (document[i] == document[j])
        return mask

    return seen


def flex_score(problem):
    cap = problem.get("soft_cap", 0)
    if cap:
        return lambda score, _b, _h, _i, _j: cap * torch.tanh(score / cap)
    if problem.get("alibi"):
        heads = problem["heads"]
        slopes = torch.exp2(-torch.arange(1, heads + 1, device="cuda") * 8 / heads)
        return lambda score, _b, h, i, j: score - slopes[h] * (i - j)
    return None


def forward_of(problem):
    grouped = problem["heads"] != problem["kv_heads"]
    if problem["backend"] == "flex":
        # Each problem by itself, or numbers that differ from the last one's become variables, whose
        # kernels are slower.
        torch._dynamo.reset()
        compiled = torch.compile(flex_attention, dynamic=False)
        seen = flex_mask(problem)
        blocks = None
        if seen is not None:
            blocks = create_block_mask(seen, None, None, problem["queries"], problem["keys"])
        score = flex_score(problem)
        return lambda q, k, v: compiled(q, k, v, block_mask=blocks, score_mod=score,
                                        enable_gqa=grouped)
    backend = BACKENDS[problem["backend"]]

    def forward(q, k, v):
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=problem["causal"], enable_gqa=grouped)

    return forward


def prepare(problem):
    torch.manual_seed(0)
    kind = TYPES[problem["dtype"]]

    def drawn(heads, rows, width):
        return torch.randn(problem["batch"], heads, rows, width, device="cuda", dtype=kind)

    q = drawn(problem["heads"], problem["queries"], problem["dim"])
    k = drawn(problem["kv_heads"], problem["keys"], problem["dim"])
    v = drawn(problem["kv_heads"], problem["keys"], problem["value_dim"])
    forward = forward_of(problem)
    about = f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"
    # Both passes as training calls them: forward keeps what backward will want.
    inputs = [x.requires_grad_() for x in (q, k, v)]
    if problem["pass"] == "forward":
        return Timed([lambda: forward(*inputs)]), about
    out = forward(*inputs)
    gradient = torch.randn_like(out)
    return Timed([lambda: torch.autograd.grad(out, inputs, gradient, retain_graph=True)]), about


peer.serve(prepare)
