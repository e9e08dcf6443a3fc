// Attention tile by tile: what a kernel that leaves out empty tiles computes.
#pragma once

#include "work/attention.h"
#include "work/tile_plan.h"

namespace assay::work {

// Tiles of 128 queries x 128 keys of one head, over the whole batch.
TileCounts count_tiles(const Attention& problem);

// The FLOP of all pairs in tiles that aren't empty: the least that such a kernel does.
double tile_flop(const Attention& problem, AttentionPass pass);

}  // namespace assay::work
