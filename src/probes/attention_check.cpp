#include "probes/attention_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "probes/attention_tolerance.h"
#include "probes/device_output.h"
#include "probes/rotating_sets.h"

namespace assay::probes {

namespace {

using work::AttentionPass;
using work::AttentionTensor;

// Elements of operands that references may take: about half a second each of the host.
constexpr double kQueryBudget = 6e7, kKeyBudget = 6e7;
constexpr double kBackwardPasses = 3;   // over a row's keys, for o, for lse and delta, and for d_q
constexpr double kOutputRoundings = 2;  // of o, and of the weights that it is a sum by
constexpr double kRowSlack = 4;         // of one row, over all sampled ones

double norm(std::span<const double> values) {
    double squares = 0;
    for (const double x : values) squares += x * x;
    return std::sqrt(squares);
}

std::byte* row_at(const work::Attention& p, AttentionTensor tensor, const SampledRow& at,
                  const void* from) {
    const auto size = tensor == AttentionTensor::lse ? sizeof(float) : work::size_of(p.type);
    const auto element = work::position(p, tensor, at.entry, at.head, at.row);
    return static_cast<std::byte*>(const_cast<void*>(from)) +
           static_cast<std::size_t>(element) * size;
}

}  // namespace

AttentionChecker::AttentionChecker(const AttentionCase& attention, std::uint64_t seed,
                                   const work::Attention* inner, double effort)
    : attention_(attention),
      inner_(inner == nullptr ? attention.problem : *inner),
      source_(attention_, inner_, seed),
      queries_(sampled_queries(
          inner_, effort * kQueryBudget /
                      (attention.pass == AttentionPass::backward ? kBackwardPasses : 1))) {
    make_forward();
    if (attention.pass == AttentionPass::backward) {
        keys_ = sampled_keys(inner_, effort * kKeyBudget);
    }
}

void AttentionChecker::make_forward() {
    o_.tensor = AttentionTensor::o;
    d_q_.tensor = AttentionTensor::q;
    const bool backward = attention_.pass == AttentionPass::backward;
    double largest = 0;  // of |lse|
    for (const auto& at : queries_) {
        const work::AttentionOracle oracle(inner_, source_, at.entry);
        auto output = oracle.output(at.head, at.row);
        lse_.push_back(output.lse);
        if (std::isfinite(output.lse)) largest = std::max(largest, std::abs(output.lse));
        if (backward) {
            auto gradient = oracle.query_gradient(at.head, at.row, output);
            d_q_.rows.push_back(
                {at, std::move(gradient.d_q),
                 remainder_of(attention_, gradient.terms) +
                     kOutputRoundings * work::unit_roundoff(inner_.type) * gradient.by_output});
        }
        o_.rows.push_back({at, std::move(output.o)});
    }
    rounding_ = largest * (inner_.type == work::Type::fp64 ? 0x1p-52 : 0x1p-23);
    source_.forget();
}

void AttentionChecker::make_backward(device::Device& device,
                                     const ops::AttentionOperands& operands) {
    d_k_.tensor = AttentionTensor::k;
    d_v_.tensor = AttentionTensor::v;
    if (keys_.empty()) return;
    DeviceOutput given(device, operands, inner_);
    std::vector<double> d_o(static_cast<std::size_t>(inner_.value_dim));
    for (const auto& at : keys_) {
        const work::AttentionOracle oracle(inner_, source_, at.entry);
        auto gradient =
            oracle.key_gradient(at.head, at.row, [&](std::int64_t head, std::int64_t query) {
                source_.read_gradient(at.entry, head, query, d_o);
                return given.row(at.entry, head, query, d_o);
            });
        d_k_.rows.push_back(
            {at, std::move(gradient.d_k), remainder_of(attention_, gradient.terms)});
        d_v_.rows.push_back({at, std::move(gradient.d_v)});
    }
    source_.forget();
}

void AttentionChecker::poison(device::Device& device, const ops::AttentionOperands& operands,
                              AttentionPass pass) const {
    const auto write = [&](AttentionTensor tensor, const SampledRow& at, void* to) {
        const auto size =
            tensor == AttentionTensor::lse ? sizeof(float) : work::size_of(inner_.type);
        const std::vector<std::byte> raw(
            static_cast<std::size_t>(work::width_of(inner_, tensor)) * size, kPoison);
        device.copy_in(row_at(inner_, tensor, at, to), raw.data(), raw.size());
    };
    for (const auto& at : queries_) {
        if (pass == AttentionPass::forward) {
            write(AttentionTensor::o, at, operands.o);
            write(AttentionTensor::lse, at, operands.lse);
        } else {
            write(AttentionTensor::q, at, operands.d_q);
        }
    }
    if (pass == AttentionPass::forward) return;
    for (const auto& at : keys_) {
        write(AttentionTensor::k, at, operands.d_k);
        write(AttentionTensor::v, at, operands.d_v);
    }
}

std::string AttentionChecker::fault_of(device::Device& device, const char* what,
                                       const Sampled& sampled, const void* from,
                                       double& worst) const {
    const double tolerance = tolerance_of(inner_.type) + rounding_;
    const double least = least_of(inner_.type) *
                         std::sqrt(static_cast<double>(work::width_of(inner_, sampled.tensor)));
    double squares = 0, remainders = 0;  // of all references
    for (const auto& row : sampled.rows) {
        squares += std::pow(norm(row.values), 2);
        remainders += std::pow(row.remainder + least, 2);
    }
    const double count = std::max(1.0, static_cast<double>(sampled.rows.size()));
    const double usual = std::sqrt(squares / count);
    double errors = 0;
    std::vector<std::byte> raw;
    for (const auto& [at, expected, remainder] : sampled.rows) {
        raw.resize(expected.size() * work::size_of(inner_.type));
        device.copy_out(raw.data(), row_at(inner_, sampled.tensor, at, from), raw.size());
        std::vector<double> error(expected.size());
        for (std::size_t i = 0; i < error.size(); ++i) {
            error[i] = work::load(inner_.type, raw.data(), i) - expected[i];
        }
        const double off = norm(error);
        const double allowed =
            kRowSlack * (tolerance * std::max(norm(expected), usual) + remainder + least);
        if (!(off <= allowed)) {  // written so that a NaN fails
            return fmt::format(
                "{} of entry {}, head {}, row {} is off by {:.2g} (Euclidean norm), "
                "at most {:.2g} is right",
                what, at.entry, at.head, at.row, off, allowed);
        }
        errors += off * off;
    }
    const double off = std::sqrt(errors);
    const double allowed = tolerance * std::sqrt(squares) + std::sqrt(remainders);
    if (!(off <= allowed)) {
        return fmt::format(
            "{} rows of {} are off by {:.2g} (Euclidean norm), at most {:.2g} is "
            "right",
            sampled.rows.size(), what, off, allowed);
    }
    if (allowed > 0) worst = std::max(worst, off / allowed);
    return {};
}

std::string AttentionChecker::lse_fault(device::Device& device, const float* lse,
                                        double& worst) const {
    for (std::size_t i = 0; i < queries_.size(); ++i) {
        const auto& at = queries_[i];
        float raw = 0;
        device.copy_out(&raw, row_at(inner_, AttentionTensor::lse, at, lse), sizeof(raw));
        const double got = static_cast<double>(raw), expected = lse_[i];
        if (got == expected) continue;  // -infinity of a row that sees no key
        const double allowed = lse_tolerance_of(inner_.type) * std::max(1.0, std::abs(expected));
        if (!std::isfinite(expected) || !(std::abs(got - expected) <= allowed)) {
            return fmt::format(
                "lse of entry {}, head {}, row {} is {:.9g}, expected {:.9g} +- "
                "{:.2g}",
                at.entry, at.head, at.row, got, expected, allowed);
        }
        worst = std::max(worst, std::abs(got - expected) / allowed);
    }
    return {};
}

record::Check AttentionChecker::check_forward(device::Device& device,
                                              const ops::AttentionOperands& operands) {
    double worst = 0;
    auto fault = fault_of(device, "o", o_, operands.o, worst);
    if (fault.empty()) fault = lse_fault(device, operands.lse, worst);
    if (!fault.empty()) return {"answer", false, fault};
    return {"answer", true,
            fmt::format("o and lse of {} rows within tolerance of double precision, the worst at "
                        "{:.2g} of it",
                        queries_.size(), worst)};
}

record::Check AttentionChecker::check_backward(device::Device& device,
                                               const ops::AttentionOperands& operands) {
    if (d_k_.rows.size() < keys_.size()) make_backward(device, operands);
    double worst = 0;
    auto fault = fault_of(device, "d_q", d_q_, operands.d_q, worst);
    if (fault.empty()) fault = fault_of(device, "d_k", d_k_, operands.d_k, worst);
    if (fault.empty()) fault = fault_of(device, "d_v", d_v_, operands.d_v, worst);
    if (!fault.empty()) return {"answer", false, fault};
    if (keys_.empty()) {
        return {"answer", true,
                fmt::format("d_q of {} rows within tolerance of double precision, the worst at "
                            "{:.2g} of it; no key was checked for d_k and d_v: one takes too long",
                            queries_.size(), worst)};
    }
    return {"answer", true,
            fmt::format("d_q of {} rows, d_k and d_v of {} keys within tolerance of double "
                        "precision, the worst at {:.2g} of it",
                        queries_.size(), keys_.size(), worst)};
}

record::Check AttentionChecker::check(device::Device& device,
                                      const ops::AttentionOperands& operands, AttentionPass pass) {
    return pass == AttentionPass::forward ? check_forward(device, operands)
                                          : check_backward(device, operands);
}

}  // namespace assay::probes
