// What the passes of attention share: a thread's memory, and operands and masks of one tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu/attention_kernels.h"
#include "cpu/attention_plan.h"
#include "ops/attention.h"

namespace assay::cpu {

// Cuts aligned arrays from a thread's memory, or without memory counts what they take.
class Carver {
  public:
    explicit Carver(void* memory) : next_(static_cast<std::byte*>(memory)) {}
    float* floats(std::int64_t count) {
        constexpr std::size_t kAlignment = 64;
        auto* floats = static_cast<float*>(static_cast<void*>(next_));
        const auto bytes = (static_cast<std::size_t>(count) * sizeof(float) + kAlignment - 1) /
                           kAlignment * kAlignment;
        if (next_ != nullptr) next_ += bytes;
        taken_ += bytes;
        return floats;
    }
    std::size_t taken() const { return taken_; }

  private:
    std::byte* next_;
    std::size_t taken_ = 0;
};

inline constexpr float kLog2E = 1.44269504F;

// One call's problem, plan, kernels and addresses.
struct AttentionCall {
    const AttentionPlan& plan;
    const AttentionKernels& kernels;
    const ops::AttentionOperands& operands;

    const work::Attention& problem() const { return plan.problem(); }
    // The address of a row of a tensor, or of its gradient, that begins at `base`.
    template <class Address>  // void* or const void*
    Address row(Address base, work::AttentionTensor tensor, std::int64_t entry, std::int64_t head,
                std::int64_t row) const {
        const auto at = plan.position(tensor, entry, head, row) *
                        static_cast<std::int64_t>(work::size_of(problem().type));
        if constexpr (std::is_const_v<std::remove_pointer_t<Address>>) {
            return static_cast<const std::byte*>(base) + at;
        } else {
            return static_cast<std::byte*>(base) + at;
        }
    }
    // Rows `first` to `first` + `count` of a head.
    Rows rows(const void* base, work::AttentionTensor tensor, std::int64_t entry, std::int64_t head,
              std::int64_t first, int count) const;

    // Floats from one row to the next, whole vectors of any instruction set, and panels of a row.
    std::int64_t stride(std::int64_t width) const { return (width + 15) / 16 * 16; }
    std::int64_t panels(std::int64_t width) const {
        return (width + kernels.panel - 1) / kernels.panel;
    }

    // The keys of tile `tile` of an entry.
    int keys_of_tile(const AttentionShape& shape, std::int64_t tile) const;

    // What the queries are multiplied with for scores in the unit of Scores::s.
    float query_factor() const;

    // Rows of a tensor of queries (q or d_o), a tile's rows turned; false where one isn't finite.
    bool turn(const void* base, work::AttentionTensor tensor, std::int64_t entry,
              const RowTile& tile, float factor, float* to) const;
    // The same as panels of columns, `kQueryTile` rows each.
    bool copy_panels(const void* base, work::AttentionTensor tensor, std::int64_t entry,
                     const RowTile& tile, float* to) const;
};

// The mask and the modifier of one tile, without the keys at its ends that none of its rows sees.
class TileScores {
  public:
    TileScores(const AttentionCall& call, Carver& carver);

    // What is to be done to the scores of a tile, which the caller then puts into `s`: of the keys
    // from first() on. Valid until the next call.
    const Scores& prepare(std::int64_t entry, const RowTile& rows, const work::Tile& tile,
                          float* s);
    // The first key that is computed, counted from the tile's own.
    int first() const { return first_; }

  private:
    void find_ends(const AttentionShape& shape, const RowTile& rows, std::int64_t tile);
    void find_seen(const AttentionShape& shape, const RowTile& rows, std::int64_t first_key);
    void find_blocks(const RowTile& rows, std::int64_t first_key);

    const AttentionCall& call_;
    Scores scores_;
    int first_ = 0;
    SeenKeys seen_{};
    float* slopes_;
    float* positions_;
    float* bias_;
    float* blocks_;
};

// C += A B, or with `factor` for each row of C: factor C + A B, where row i of A has a term for
// each l of k, and terms of pairs that aren't seen are 0. A row of B that isn't finite (`finite`
// false) must not reach rows of C that don't see it, as 0 times it would.
// The pair of (i, l) is (query i, key l), or with `by_key` (key i, query l).
void add_product(const AttentionKernels& kernels, const Product& product, bool finite,
                 const SeenKeys* seen, bool by_key, float* scratch);

}  // namespace assay::cpu
