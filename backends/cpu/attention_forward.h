// The forward pass: a job's tiles of rows meet the keys tile by tile, the softmax online.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/attention_tile.h"

namespace assay::cpu {

// Tiles of rows that a job has at most: each meets keys that were copied once, while all of them
// stay in the caches.
std::int64_t most_forward_tiles(const work::Attention& problem);

// One thread's part of it.
class AttentionForward {
  public:
    // The call and the carver's memory must outlive it; with a carver that counts, nothing may run.
    AttentionForward(const AttentionCall& call, Carver& carver, std::int64_t tiles);
    void run(const AttentionJob& job);

  private:
    struct State {
        RowTile rows;
        const work::Tile* next = nullptr;
        const work::Tile* end = nullptr;
        float *queries, *output, *largest, *sum;
    };
    void begin(const AttentionJob& job, std::int64_t tile, State& state);
    void copy_keys(const AttentionJob& job, std::int64_t tile);
    void meet(const AttentionJob& job, State& state);
    void finish(const AttentionJob& job, const State& state);

    const AttentionCall& call_;
    TileScores scores_;
    std::int64_t key_stride_, value_stride_;
    float *keys_, *values_, *s_, *shrink_, *scratch_;
    bool values_finite_ = true;
    std::vector<State> states_;
};

}  // namespace assay::cpu
