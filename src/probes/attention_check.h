// Is attention's answer right? Sampled rows against double precision.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "ops/attention.h"
#include "probes/attention_problem.h"
#include "record/result.h"
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

// Rows of a head of an entry: queries or keys.
struct SampledRow {
    std::int64_t entry = 0, head = 0, row = 0;
    bool operator==(const SampledRow&) const = default;
    auto operator<=>(const SampledRow&) const = default;
};

// The first and last rows, those at the edges of tiles of 64 and 128, of windows and of documents,
// and others spread evenly; of the first, a middle and the last entry, and of the heads at both
// ends, in the middle and at the first boundary between groups. As many as take
// `budget` elements of q, k, v or d_o to compute, the most telling first. At least four queries.
// Keys that more queries see than the budget pays for are left out, under a causal mask
// the early ones; where all are, the cheapest is taken if it costs four budgets at most.
std::vector<SampledRow> sampled_queries(const work::Attention& problem, double budget);
std::vector<SampledRow> sampled_keys(const work::Attention& problem, double budget);

// References are computed once, for any number of answers. Of the sampled rows together, the
// Euclidean norm of the error of o, d_q, d_k and d_v may be 1e-5 (fp32), 2e-3 (fp16), 1e-2 (bf16)
// or 1e-12 (fp64) of the reference's, and of one row four times as much of the row's norm or the
// root-mean-square norm, whichever is larger. lse may differ by 1e-4 max(1, |lse|) in fp32, 1e-3
// in narrower types, 1e-6 in fp64, which is what lse's own fp32 holds.
//
// To these shares of norms the largest |lse| of the sampled rows is added times 2^-23 (fp64:
// 2^-52), since a score is rounded by as much, and its exponential by that share.
//
// A gradient of q or k may be what rounding leaves of terms that cancel, as that of a row which
// sees one key. Of the root-sum-square of its own terms (work::TermSizes) 2^-20 is allowed on top
// (fp64: 2^-48), and where inputs are all ones, so that every gradient is such a remainder, of
// their sum as much as of a norm. 2^-100 of an element (fp64: 2^-960, fp16: 2^-24) is always right.
class AttentionChecker {
  public:
    // For set 0 of RotatingAttention, filled with `seed`; `inner` as there. References take about a
    // second of the host, times `effort`; more where four rows or the cheapest key do.
    AttentionChecker(const AttentionCase& attention, std::uint64_t seed,
                     const work::Attention* inner = nullptr, double effort = 1);

    // Writes over the sampled rows of the pass's outputs what no attention gives.
    void poison(device::Device& device, const ops::AttentionOperands& operands,
                work::AttentionPass pass) const;
    record::Check check_forward(device::Device& device, const ops::AttentionOperands& operands);
    // Gradients of sampled keys are held against the device's own o and lse of all the rows that
    // see them, which a forward check has looked at before: they are read at the first call.
    record::Check check_backward(device::Device& device, const ops::AttentionOperands& operands);
    record::Check check(device::Device& device, const ops::AttentionOperands& operands,
                        work::AttentionPass pass);

  private:
    struct Reference {
        SampledRow at;
        std::vector<double> values;
        double remainder = 0;  // allowed beside what the norm allows
    };
    struct Sampled {
        work::AttentionTensor tensor;  // whose layout it has
        std::vector<Reference> rows;
    };

    void make_forward();
    void make_backward(device::Device& device, const ops::AttentionOperands& operands);
    // "" when right; `worst` rises to the error's share of what is allowed.
    std::string fault_of(device::Device& device, const char* what, const Sampled& sampled,
                         const void* from, double& worst) const;
    std::string lse_fault(device::Device& device, const float* lse, double& worst) const;

    AttentionCase attention_;
    work::Attention inner_;
    FilledSource source_;
    std::vector<SampledRow> queries_, keys_;
    std::vector<double> lse_;
    Sampled o_, d_q_, d_k_, d_v_;
    double rounding_ = 0;  // of scores, as a share of their exponentials
};

}  // namespace assay::probes
