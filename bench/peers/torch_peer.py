#!/usr/bin/python3
"""torch on the CPU: products in fp32 and bf16, copy and triad."""

import peer
import torch

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


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
    elements = problem["bytes"] // 4
    a, b, c = (torch.randn(elements) for _ in range(3))
    if problem["op"] == "copy":
        return lambda: c.copy_(a), about
    return lambda: torch.add(a, b, alpha=3.0, out=c), about


peer.serve(prepare)
