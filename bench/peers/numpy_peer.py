#!/usr/bin/python3
"""numpy with OpenBLAS: fp32 products, the result written into place."""

import ctypes
import os

import numpy
import peer


def openblas_core():
    """The core type OpenBLAS took, from the very library numpy uses; \"\" for another BLAS."""
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "blas" in line}
    for file in sorted(files):
        library = ctypes.CDLL(file)
        if hasattr(library, "openblas_get_corename"):
            library.openblas_get_corename.restype = ctypes.c_char_p
            library.openblas_get_config.restype = ctypes.c_char_p
            threads = library.openblas_get_num_threads()
            core = library.openblas_get_corename().decode()
            version = library.openblas_get_config().decode().split()[1]
            return f"OpenBLAS {version} core {core}, {threads} threads, {os.path.realpath(file)}"
    return f"a BLAS that is no OpenBLAS: {sorted(files)}"


def prepare(problem):
    random = numpy.random.default_rng(0)
    m, n, k = problem["m"], problem["n"], problem["k"]
    a = random.standard_normal((m, k), dtype=numpy.float32)
    b = random.standard_normal((k, n), dtype=numpy.float32)
    c = numpy.empty((m, n), dtype=numpy.float32)
    return lambda: numpy.matmul(a, b, out=c), f"numpy {numpy.__version__}, {openblas_core()}"


peer.serve(prepare)
