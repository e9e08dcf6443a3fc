// The backward pass: scores are computed again and turned to probabilities by the forward pass's
// lse, so that each tile stands alone, and every sum is taken in one order.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/attention_tile.h"

namespace assay::cpu {

// How the gradients of a problem are shared out: all of a key/value head by one thread, five
// products a tile; or those of keys and of queries by jobs of their own, seven, where heads are too
// few for the threads or a head's gradients of queries too large to be held.
struct BackwardJobs {
    std::vector<AttentionJob> jobs;
    bool one_pass = false;
    std::int64_t key_tiles = 0, row_tiles = 0;  // copied at once
    std::int64_t kept_row_tiles = 0;            // whose gradients are summed up in one pass
};
BackwardJobs backward_jobs(const AttentionPlan& plan, int threads);

// One thread's part of it.
class AttentionBackward {
  public:
    // The call and the carver's memory must outlive it; with a carver that counts, nothing may run.
    AttentionBackward(const AttentionCall& call, Carver& carver, const BackwardJobs& how);
    void run(const AttentionJob& job);

  private:
    struct Keys {
        float *rows, *panels, *values;  // of k, of k again, of v
        float *d_k, *d_v;
        bool finite = true;  // k
    };
    struct Queries {
        RowTile rows;
        float *turned, *panels;                     // of q
        float *turned_gradients, *gradient_panels;  // of d_o
        float *lse, *delta, *d_q;
        bool finite = true, gradients_finite = true;
    };
    void gradients_of_keys(const AttentionJob& job);
    void gradients_of_queries(const AttentionJob& job);
    void copy_keys(const AttentionJob& job, std::int64_t tile, bool as_panels, Keys& keys);
    void copy_queries(const AttentionJob& job, std::int64_t tile, bool as_panels, Queries& queries);
    // Turns s_ to the tile's p, and d_p_ to its ds.
    const Scores& scores(const AttentionJob& job, const Queries& queries, const Keys& keys,
                         const work::Tile& tile);
    void add_to_queries(const Scores& scores, const Queries& queries, const Keys& keys, float* d_q);
    void add_to_keys(const Scores& scores, const Queries& queries, const Keys& keys);
    void write_queries(const AttentionJob& job, const RowTile& rows, const float* d_q);
    void write_keys(const AttentionJob& job, std::int64_t tile, const Keys& keys);

    const AttentionCall& call_;
    TileScores scores_;
    std::int64_t key_stride_, value_stride_;
    float *s_, *d_p_, *scratch_, *kept_;
    std::vector<Keys> keys_;
    std::vector<Queries> queries_;
};

}  // namespace assay::cpu
