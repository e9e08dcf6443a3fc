// A problem's operands on the host, and what the oracle makes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/attention_answer.h"
#include "work/attention.h"
#include "work/attention_oracle.h"

namespace assay::cuda {

// Bytes of each tensor as a device would hold them. A tensor's address is `shift` elements behind
// the start of its array, which is aligned; what lies between rows, and after the end, is
// filled with NaN, and must stay so.
struct AttentionArrays {
    std::vector<unsigned char> q, k, v, bias, o, lse, d_o, d_q, d_k, d_v;
};

class AttentionExample : public work::AttentionSource {
  public:
    explicit AttentionExample(work::Attention problem, std::int64_t shift = 0);

    const work::Attention& problem() const { return problem_; }
    AttentionArrays& arrays() { return arrays_; }
    const AttentionArrays& arrays() const { return arrays_; }
    // Bytes from an array's start to the tensor's address.
    std::size_t offset() const;

    // Fills o and lse with the oracle's, for a backward pass without a forward one.
    void take_forward();
    // And d_q, d_k and d_v.
    void take_backward();

    // The first thing that is wrong, or "": of o and lse, or of d_q, d_k and d_v. A tensor's norm
    // is held to its type's tolerance, a row's to kRowSlack times that; an lse to what fp32 holds.
    std::string forward_mistake() const;
    std::string backward_mistake() const;

    void read(work::AttentionTensor tensor, std::int64_t entry, std::int64_t head, std::int64_t row,
              std::span<double> into) const override;
    void read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                       std::span<double> into) const override;
    double bias(std::int64_t head, std::int64_t query, std::int64_t key) const override;

  private:
    std::vector<double> decoded(const std::vector<unsigned char>& array) const;
    double element(const std::vector<unsigned char>& array, work::Type type, std::int64_t at) const;
    void set(std::vector<unsigned char>& array, work::Type type, std::int64_t at,
             double value) const;
    std::string compare(const char* what, const std::vector<unsigned char>& got,
                        work::AttentionTensor tensor, work::Type type,
                        const std::vector<double>& right) const;
    void write(std::vector<unsigned char>& array, work::AttentionTensor tensor, work::Type type,
               const std::vector<double>& values);
    void compute() const;

    work::Attention problem_;
    std::int64_t shift_;
    AttentionArrays arrays_;
    struct Values {
        std::vector<double> q, k, v, d_o;
    } values_;
    mutable work::AttentionAnswer right_;
};

}  // namespace assay::cuda
