// Is attention's answer right? Sampled rows against double precision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "ops/attention.h"
#include "probes/attention_problem.h"
#include "probes/attention_samples.h"
#include "probes/filled_attention.h"
#include "record/result.h"

namespace assay::probes {

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
// their sum as much as of a norm. The delta of a query's gradient is made of o as the type holds
// it, and of weights rounded before: what two unit roundoffs of o's elements, their signs any, make
// of d_q is allowed too. Keys are held against the device's own o. 2^-100 of an element (fp64:
// 2^-960, fp16: 2^-24) is always right.
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
