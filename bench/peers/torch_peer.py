#!/usr/bin/python3
"""torch on the CPU: products in fp32 and bf16, causal attention, copy and triad."""

import peer
import torch

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def attention(problem):
    """softmax(scale q k^T + mask) v in as few calls as it can be written."""
    heads, rows, dim = problem["heads"], problem["rows"], problem["dim"]
    q, k, v = (torch.randn(heads, rows, dim) for _ in range(3))
    mask = torch.zeros(1, rows, rows)
    if problem["causal"]:
        mask = torch.full((1, rows, rows), float("-inf")).triu(1)
    turned = k.transpose(1, 2)

    def call():
        scores = torch.baddbmm(mask, q, turned, alpha=dim ** -0.5)
        return torch.bmm(torch.softmax(scores, -1), v)

    return call


def prepare(problem):
    about = f"torch {torch.__version__}, {torch.get_num_threads()} threads"
    torch.manual_seed(0)
    if problem["op"] == "gemm":
        kind = TYPES[problem["dtype"]]
        m, n, k = problem["m"], problem["n"], problem["k"]
        a = torch.randn(m, k).to(kind)
        b = torch.randn(k, n).to(kind)
        c = torch.empty(m, n, dtype=kind)
        return lambda: torch.mm(a, b, out=c), about
    if problem["op"] == "attention":
        return attention(problem), about
    elements = problem["bytes"] // 4
    a, b, c = (torch.randn(elements) for _ in range(3))
    if problem["op"] == "copy":
        return lambda: c.copy_(a), about
    return lambda: torch.add(a, b, alpha=3.0, out=c), about


peer.serve(prepare)
