#!/usr/bin/env python3
"""Writes src/work/normal_table.h: the cubics of src/work/normal.h.

Segment s of octave e covers tail probabilities p with p * 2^32 in [2^e (1 + s/8), 2^e (1 + (s+1)/8)).
Each cubic interpolates -inverse_normal_cdf(p) at the four Chebyshev points of its segment, in
x = -1/2 .. 1/2, and is rounded to units of 2^-28. A last segment stands for p = 1/2 itself.

Usage: make_normal_table.py > src/work/normal_table.h
"""
from fractions import Fraction
from math import cos, pi
from statistics import NormalDist

SEGMENTS_PER_OCTAVE = 8
FIRST_OCTAVE, LAST_OCTAVE = -1, 30  # of p * 2^32: from 1/2 to 2^31
UNIT = 2**28


def cubic(first, width):
    """Coefficients c0..c3 in units of 2^-28, over p * 2^32 in [first, first + width]."""
    nodes = [Fraction(cos((2 * i + 1) * pi / 8) / 2) for i in range(4)]
    values = [
        Fraction(-NormalDist().inv_cdf(float((first + (x + Fraction(1, 2)) * width) / 2**32)))
        for x in nodes
    ]
    # Newton's divided differences, then expanded to powers of x.
    table = list(values)
    for order in range(1, 4):
        for i in range(3, order - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - order])
    powers = [Fraction(0)] * 4
    for i in range(3, -1, -1):
        shifted = [Fraction(0)] + powers[:3]
        powers = [s - nodes[i] * p for s, p in zip(shifted, powers)]
        powers[0] += table[i]
    return [round(c * UNIT) for c in powers]


def rows():
    for octave in range(FIRST_OCTAVE, LAST_OCTAVE + 1):
        width = Fraction(2) ** octave / SEGMENTS_PER_OCTAVE
        for s in range(SEGMENTS_PER_OCTAVE):
            yield cubic(width * (SEGMENTS_PER_OCTAVE + s), width)
    yield [0, 0, 0, 0]


print("""// Written by tools/make_normal_table.py; change it there.
#pragma once

#include <cstdint>

#include "work/host_device.h"

namespace assay::work {

// c0 + c1 x + c2 x^2 + c3 x^3 in units of 2^-28, x = -1/2 .. 1/2.
struct NormalSegment {
    std::int32_t c0, c1, c2, c3;
};

// Exponent and three fraction bits of 1/2 as an fp32 number: the first segment's.
inline constexpr std::uint32_t kFirstNormalSegment = 126 * 8;

ASSAY_HOST_DEVICE inline const NormalSegment& normal_segment(std::uint32_t index) {
    // clang-format off
    alignas(16) static constexpr NormalSegment kSegments[] = {""")
for row in rows():
    print("        {" + ", ".join(map(str, row)) + "},")
print("""    };
    // clang-format on
    return kSegments[index];
}

}  // namespace assay::work""")
