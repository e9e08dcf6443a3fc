#!/usr/bin/env python3
"""torch on a GPU: products through its entry points, scaled fp8 products, copies."""

import peer
import torch
from torch_cuda_timing import Timed

TYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16,
         "fp16": torch.float16, "fp8_e4m3fn": torch.float8_e4m3fn, "fp8_e5m2": torch.float8_e5m2}


def operands(problem, sets):
    kind = TYPES[problem["dtype"]]
    m, n, k = problem["m"], problem["n"], problem["k"]
    layout = problem["layout"]

    def filled(rows, columns, transposed):
        shape = (columns, rows) if transposed else (rows, columns)
        matrix = torch.randn(shape, device="cuda").to(kind)
        return matrix.t() if transposed else matrix

    return [(filled(m, k, layout[0] == "t"), filled(k, n, layout[1] == "t"))
            for _ in range(sets)]


def product(problem):
    torch.backends.cuda.matmul.allow_tf32 = problem["dtype"] == "tf32"
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    sets = operands(problem, problem["sets"])
    m, n = problem["m"], problem["n"]
    if problem["dtype"].startswith("fp8"):
        one = torch.ones((), device="cuda")
        fast = problem["accumulation"] == "fast"
        outs = [torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in sets]
        return [lambda a=a, b=b, c=c: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16,
                                                      use_fast_accum=fast, out=c)
                for (a, b), c in zip(sets, outs)]
    outs = [torch.empty(m, n, device="cuda", dtype=TYPES[problem["dtype"]]) for _ in sets]
    if problem.get("path") == "linear":
        return [lambda a=a, b=b: torch.nn.functional.linear(a, b.t()) for a, b in sets]
    return [lambda a=a, b=b, c=c: torch.matmul(a, b, out=c) for (a, b), c in zip(sets, outs)]


def copies(problem):
    count = problem["bytes"]
    a = torch.randint(0, 255, (count,), device="cuda", dtype=torch.uint8)
    c = torch.empty_like(a)
    return [lambda: c.copy_(a)]


def prepare(problem):
    torch.manual_seed(0)
    if problem["op"] == "empty":
        return Timed([lambda: None]), "nothing"
    calls = product(problem) if problem["op"] == "gemm" else copies(problem)
    about = (f"torch {torch.__version__}, cuBLAS through "
             f"{torch.backends.cuda.preferred_blas_library().name}")
    return Timed(calls), about


peer.serve(prepare)
