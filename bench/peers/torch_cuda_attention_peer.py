#!/usr/bin/env python3
"""torch on a GPU: attention by cuDNN, by its flash kernel (of whole and of variable lengths) and by
compiled FlexAttention."""

import inspect

import peer
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch_cuda_timing import Timed

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
BACKENDS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
# What a problem may have; without causal, none of what a mask or ALiBi adds to it.
TAKES = {"cudnn": {"causal", "packed"}, "flash": {"causal", "packed"},
         "flex": {"causal", "window", "prefix", "documents", "soft_cap", "alibi", "packed"},
         "varlen": {"causal", "documents"}}


def require_taken(problem):
    """Raises for what the backend wouldn't do: it would be another problem that is measured."""
    backend = problem["backend"]
    asked = {name for name in set().union(*TAKES.values()) if problem.get(name)}
    beyond = asked - TAKES[backend]
    if beyond:
        raise ValueError(f"{backend} isn't asked for {', '.join(sorted(beyond))} here")
    if "causal" not in asked and asked & {"window", "prefix", "documents", "alibi"}:
        raise ValueError(f"{backend} is asked for {', '.join(sorted(asked))} with causal alone here")
    if backend == "varlen" and asked != TAKES["varlen"]:
        raise ValueError("varlen is asked for causal documents alone here")
    if {"soft_cap", "alibi"} <= asked:
        raise ValueError("flex is asked for a soft cap or ALiBi here, not both")


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


def varlen_forward(problem):
    """Of entries back to back, without the batch's dimension."""
    from torch.nn.attention.varlen import varlen_attn

    lengths = torch.tensor([0] + problem["documents"], device="cuda")
    ends = lengths.cumsum(0).to(torch.int32)
    longest = max(problem["documents"])
    # Versions name a causal mask differently.
    names = inspect.signature(varlen_attn).parameters
    causal = {"window_size": (-1, 0)} if "window_size" in names else {"is_causal": True}
    return lambda q, k, v: varlen_attn(q, k, v, ends, ends, longest, longest, **causal)


def forward_of(problem):
    grouped = problem["heads"] != problem["kv_heads"]
    if problem["backend"] == "varlen":
        return varlen_forward(problem)
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


def inputs_of(problem):
    """q, k and v: (batch, head, row, element), or (row, head, element) of variable lengths."""
    kind = TYPES[problem["dtype"]]
    batch, heads, kv_heads = problem["batch"], problem["heads"], problem["kv_heads"]

    def drawn(*sizes):
        return torch.randn(*sizes, device="cuda", dtype=kind)

    if problem["packed"]:
        # Views of one tensor; so that gradients needn't be gathered, each is a leaf of its own.
        packed = drawn(batch, problem["queries"], heads + 2 * kv_heads, problem["dim"])
        views = [x.transpose(1, 2) for x in packed.split([heads, kv_heads, kv_heads], dim=2)]
    elif problem["backend"] == "varlen":
        views = [drawn(problem["queries"], heads, problem["dim"]),
                 drawn(problem["keys"], kv_heads, problem["dim"]),
                 drawn(problem["keys"], kv_heads, problem["value_dim"])]
    else:
        views = [drawn(batch, heads, problem["queries"], problem["dim"]),
                 drawn(batch, kv_heads, problem["keys"], problem["dim"]),
                 drawn(batch, kv_heads, problem["keys"], problem["value_dim"])]
    # Both passes as training calls them: forward keeps what backward will want.
    return [x.detach().requires_grad_() for x in views]


def prepare(problem):
    require_taken(problem)
    torch.manual_seed(0)
    inputs = inputs_of(problem)
    forward = forward_of(problem)
    about = f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"
    if problem["pass"] == "forward":
        return Timed([lambda: forward(*inputs)]), about
    out = forward(*inputs)
    gradient = torch.randn_like(out)
    return Timed([lambda: torch.autograd.grad(out, inputs, gradient, retain_graph=True)]), about


peer.serve(prepare)
