// The operands that the random filler gives attention, made anew on the host.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "probes/attention_problem.h"
#include "work/attention_oracle.h"

namespace assay::probes {

// The operands of set 0 of RotatingAttention, made anew by counter: nothing is copied from the
// device. `inner` is what is computed (attention.problem, or less of it at its strides).
class FilledSource final : public work::AttentionSource {
  public:
    FilledSource(const AttentionCase& attention, const work::Attention& inner, std::uint64_t seed);

    void read(work::AttentionTensor tensor, std::int64_t entry, std::int64_t head, std::int64_t row,
              std::span<double> into) const override;
    void read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                       std::span<double> into) const override;
    double bias(std::int64_t head, std::int64_t query, std::int64_t key) const override;

    // Frees what was kept of keys and values.
    void forget();

  private:
    void make(std::uint32_t stream, std::int64_t first, std::span<double> into) const;

    AttentionCase attention_;
    work::Attention inner_;
    std::uint64_t seed_;
    // Rows of keys and values are read for every query: those of one head are kept.
    struct Kept {
        std::int64_t entry = -1, head = -1;
        std::vector<double> values;  // of all rows
        std::vector<bool> made;      // by row
    };
    mutable std::map<work::AttentionTensor, Kept> kept_;
    // The last row of d_o: the oracle reads it, and so does who gives it delta.
    mutable std::int64_t gradient_first_ = -1;
    mutable std::vector<double> gradient_;
};

}  // namespace assay::probes
