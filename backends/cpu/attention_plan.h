// How attention is cut up: tiles of rows, jobs of such tiles, and what each entry of the batch
// takes of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "work/attention.h"
#include "work/tile_plan.h"

namespace assay::cpu {

// Rows that are computed together: `queries` queries of each of `heads` heads, which share their
// keys; row h * queries + i is query `query` + i of head `head` + h.
struct RowTile {
    std::int64_t head = 0, query = 0;
    int heads = 0, queries = 0;
    std::int64_t plan_tile = 0;  // of the entry's tile plan
    int rows() const { return heads * queries; }
};

// Entries of the same lengths.
class AttentionShape {
  public:
    // The problem must outlive it.
    AttentionShape(const work::Attention& problem, std::int64_t queries, std::int64_t keys);

    std::int64_t queries() const { return rows_.queries(); }
    std::int64_t keys() const { return rows_.keys(); }
    std::int64_t key_tiles() const { return plan_.key_tiles; }
    const work::MaskRows& rows() const { return rows_; }

    // Tiles of rows of one key/value head, those of a later query never before an earlier's.
    std::int64_t row_tiles() const { return plan_.query_tiles * head_tiles_; }
    RowTile row_tile(std::int64_t kv_head, std::int64_t index) const;
    // The tiles of the plan that such a tile of rows has, from key tile `first` on.
    const work::Tile* tiles(const RowTile& tile, std::int64_t first = 0) const;
    const work::Tile* tiles_end(const RowTile& tile) const;
    // Tiles that one key/value head computes in tiles of rows, or keys, `first` to `end`.
    std::int64_t cost_of_rows(std::int64_t first, std::int64_t end) const;
    std::int64_t cost_of_keys(std::int64_t first, std::int64_t end) const;

  private:
    std::int64_t group_;  // heads that share keys
    int heads_a_tile_;
    std::int64_t head_tiles_;
    work::MaskRows rows_;
    work::TilePlan plan_;
    std::vector<std::int64_t> row_costs_, key_costs_;  // summed up
};

// What one thread computes at a time.
struct AttentionJob {
    enum class Kind {
        output,   // of tiles of rows
        both,     // all gradients of a key/value head
        keys,     // gradients of keys and values, of tiles of keys
        queries,  // gradients of queries, of tiles of rows
    };
    Kind kind = Kind::output;
    std::int64_t entry = 0, kv_head = 0;
    std::int64_t first = 0, end = 0;  // tiles
    std::int64_t cost = 0;
};

class AttentionPlan {
  public:
    // The problem must outlive it.
    explicit AttentionPlan(const work::Attention& problem);

    const work::Attention& problem() const { return problem_; }
    const AttentionShape& shape(std::int64_t entry) const {
        return *shapes_[shape_of_[static_cast<std::size_t>(entry)]];
    }
    // As work::position, without adding up the lengths before the entry.
    std::int64_t position(work::AttentionTensor tensor, std::int64_t entry, std::int64_t head,
                          std::int64_t row) const {
        const auto& strides = problem_.of(tensor);
        return starts_[static_cast<std::size_t>(entry)][static_cast<std::size_t>(tensor)] +
               head * strides.head + row * strides.row;
    }

    // Jobs, the longest first, each of at most `tiles` tiles, and of fewer where the threads
    // would have too few jobs to share them evenly. Entries without rows have none.
    std::vector<AttentionJob> jobs(AttentionJob::Kind kind, std::int64_t tiles, int threads) const;
    // The longest queries that an entry has, in tiles of rows of one key/value head.
    std::int64_t most_row_tiles() const;

  private:
    const work::Attention& problem_;
    std::vector<std::unique_ptr<AttentionShape>> shapes_;
    std::vector<std::size_t> shape_of_;  // by entry
    std::vector<std::array<std::int64_t, work::kAttentionTensors>> starts_;
};

// The time `threads` threads take that take jobs in this order, in units of a job's cost.
std::int64_t makespan(const std::vector<AttentionJob>& jobs, int threads);

}  // namespace assay::cpu
