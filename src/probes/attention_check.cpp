#include "probes/attention_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "probes/attention_operands.h"
#include "probes/matmul_operands.h"
#include "work/fill.h"

namespace assay::probes {

namespace {

using work::AttentionPass;
using work::AttentionTensor;

// Elements of operands that references may take: about half a second each of the host.
constexpr double kQueryBudget = 6e7, kKeyBudget = 6e7;
constexpr double kBackwardPasses = 3;  // over a row's keys, for o, for lse and delta, and for d_q
constexpr std::size_t kFewestRows = 4, kMostRows = 48;
constexpr double kDearest = 4;   // budgets that a key may cost where none costs less
constexpr double kRowSlack = 4;  // of one row, over all sampled ones

double tolerance_of(work::Type type) {
    switch (type) {
        case work::Type::fp64:
            return 1e-12;
        case work::Type::fp32:
            return 1e-5;
        case work::Type::fp16:
            return 2e-3;
        default:
            return 1e-2;
    }
}

// Of an element, whatever its size: what is smaller, or comes of weights smaller, is lost to the
// type's least exponent.
double least_of(work::Type type) {
    return type == work::Type::fp64 ? 0x1p-960 : type == work::Type::fp16 ? 0x1p-24 : 0x1p-100;
}

double lse_tolerance_of(work::Type type) {
    return type == work::Type::fp64 ? 1e-6 : type == work::Type::fp32 ? 1e-4 : 1e-3;
}

// Query heads of a key/value head.
std::int64_t group_of(const work::Attention& p) {
    return p.heads / p.kv_heads;
}

double norm(std::span<const double> values) {
    double squares = 0;
    for (const double x : values) squares += x * x;
    return std::sqrt(squares);
}

// What rounding may leave of terms that cancel; attention_check.h says how much.
double remainder_of(const AttentionCase& attention, const work::TermSizes& terms) {
    const auto type = attention.problem.type;
    if (attention.inputs == work::Distribution::ones) return tolerance_of(type) * terms.sum;
    return (type == work::Type::fp64 ? 0x1p-48 : 0x1p-20) * std::sqrt(terms.squares);
}

struct Place {
    std::int64_t entry, head;
    bool operator==(const Place&) const = default;
};

// Of batch and heads: corners, a middle entry and a middle head, and where the first group of query
// heads ends, since heads paired otherwise agree in the corners. Entries without a row are left
// out. The most telling first.
std::vector<Place> places_of(const work::Attention& p, bool of_queries) {
    std::vector<std::int64_t> entries;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        const auto rows = of_queries ? work::queries_of(p, entry) : work::keys_of(p, entry);
        if (rows > 0) entries.push_back(entry);
    }
    if (entries.empty()) return {};
    const auto first = entries.front(), last = entries.back(), inner = entries[entries.size() / 2];
    const auto end = (of_queries ? p.heads : p.kv_heads) - 1;
    const auto group = of_queries ? group_of(p) : 1;
    std::vector<Place> places;
    for (const auto& place : {Place{first, 0}, Place{last, end}, Place{inner, std::min(group, end)},
                              Place{first, group - 1}, Place{inner, (end + 1) / 2},
                              Place{first, end}, Place{last, 0}}) {
        if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    }
    return places;
}

// The most telling first: ends, edges of tiles, of windows and of documents, then a spread.
std::vector<std::int64_t> telling_rows(const work::Mask& mask, std::int64_t rows) {
    std::vector<std::int64_t> wanted{rows - 1, 0, 127, 128, 63, 64, rows - 64, rows - 128};
    if (mask.window > 0) {
        wanted.insert(wanted.end(), {mask.window - 1, mask.window, mask.window + 1});
    }
    if (!mask.documents.empty()) {
        const auto first = mask.documents.front(), last = rows - mask.documents.back();
        wanted.insert(wanted.end(), {first - 1, first, last - 1, last});
    }
    if (mask.prefix > 0) wanted.insert(wanted.end(), {mask.prefix - 1, mask.prefix});
    for (std::size_t i = 1; i <= kMostRows; ++i) {
        const double fraction = std::fmod(0.6180339887498949 * static_cast<double>(i), 1.0);
        wanted.push_back(static_cast<std::int64_t>(fraction * static_cast<double>(rows)));
    }
    std::vector<std::int64_t> telling;
    for (const auto row : wanted) {
        const bool known = std::ranges::find(telling, row) != telling.end();
        if (row >= 0 && row < rows && !known) telling.push_back(row);
    }
    return telling;
}

// `cost` of a row of an entry, in elements of operands.
template <class Cost>
std::vector<SampledRow> sampled(const work::Attention& p, bool of_queries, double budget,
                                Cost cost) {
    std::vector<SampledRow> rows;
    double spent = 0;
    std::optional<SampledRow> beyond;  // the cheapest that costs more than the budget
    double least = kDearest * budget;
    const auto places = places_of(p, of_queries);
    const auto add = [&](const SampledRow& row) {
        if (std::ranges::find(rows, row) != rows.end() || rows.size() >= kMostRows) return;
        const double more = cost(row);
        const bool needed = of_queries && rows.size() < kFewestRows;
        if (!needed && spent + more > budget) {
            if (more <= least && (!beyond || more < least)) {
                beyond = row;
                least = more;
            }
            return;
        }
        spent += more;
        rows.push_back(row);
    };
    std::vector<std::vector<std::int64_t>> telling;  // of each place
    std::size_t most = 0;
    for (const auto& place : places) {
        const auto count =
            of_queries ? work::queries_of(p, place.entry) : work::keys_of(p, place.entry);
        telling.push_back(telling_rows(p.mask, count));
        most = std::max(most, telling.back().size());
    }
    // Each place in turn, so that few rows lie in all of them.
    for (std::size_t round = 0; round < most; ++round) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto& of_place = telling[i];
            const auto row = (round + i) % most;
            if (row < of_place.size()) add({places[i].entry, places[i].head, of_place[row]});
        }
    }
    if (rows.empty() && beyond) rows.push_back(*beyond);
    std::ranges::sort(rows);
    return rows;
}

// What the device gave for o and lse. Rows of o are copied some at a time, in the order in which
// they lie in memory.
class DeviceOutput {
  public:
    DeviceOutput(device::Device& device, const ops::AttentionOperands& operands,
                 const work::Attention& problem)
        : device_(device),
          o_(static_cast<const std::byte*>(operands.o)),
          problem_(problem),
          lse_(static_cast<std::size_t>(work::extent(problem, AttentionTensor::lse))) {
        device.copy_out(lse_.data(), operands.lse, lse_.size() * sizeof(float));
    }

    // What the backward pass takes from a row, whose d_o is `with`.
    work::AttentionRow row(std::int64_t entry, std::int64_t head, std::int64_t row,
                           std::span<const double> with) {
        const auto& slab = slab_of(entry, head, row);
        const auto at = work::position(problem_, AttentionTensor::o, entry, head, row) - slab.first;
        double delta = 0, squares = 0;
        for (std::size_t i = 0; i < with.size(); ++i) {
            const double o =
                work::load(problem_.type, slab.bytes.data(), static_cast<std::uint64_t>(at) + i);
            delta += with[i] * o;
            squares += o * o;
        }
        return {lse(entry, head, row), delta, norm(with) * std::sqrt(squares)};
    }

  private:
    double lse(std::int64_t entry, std::int64_t head, std::int64_t row) const {
        const auto at = work::position(problem_, AttentionTensor::lse, entry, head, row);
        return static_cast<double>(lse_[static_cast<std::size_t>(at)]);
    }

    struct Slab {
        std::int64_t first = 0;  // element of o
        std::int64_t entry = -1, chunk = -1;
        std::vector<std::byte> bytes;
    };

    const Slab& slab_of(std::int64_t entry, std::int64_t head, std::int64_t row) {
        constexpr std::int64_t kRows = 128;
        const auto& strides = problem_.of(AttentionTensor::o);
        const bool by_token = strides.head < strides.row;  // then one slab has all heads
        auto& slab = slabs_[by_token ? 0 : head];
        if (slab.entry == entry && slab.chunk == row / kRows) return slab;
        slab.entry = entry;
        slab.chunk = row / kRows;
        const auto begin = slab.chunk * kRows;
        const auto end = std::min(begin + kRows, work::queries_of(problem_, entry));
        const auto at = [&](std::int64_t h, std::int64_t r) {
            return work::position(problem_, AttentionTensor::o, entry, h, r);
        };
        slab.first = at(by_token ? 0 : head, begin);
        const auto last = at(by_token ? problem_.heads - 1 : head, end - 1) + problem_.value_dim;
        const auto size = work::size_of(problem_.type);
        slab.bytes.resize(static_cast<std::size_t>(last - slab.first) * size);
        device_.copy_out(slab.bytes.data(), o_ + static_cast<std::size_t>(slab.first) * size,
                         slab.bytes.size());
        return slab;
    }

    device::Device& device_;
    const std::byte* o_;
    const work::Attention& problem_;
    std::vector<float> lse_;
    std::map<std::int64_t, Slab> slabs_;  // by head
};

std::byte* row_at(const work::Attention& p, AttentionTensor tensor, const SampledRow& at,
                  const void* from) {
    const auto size = tensor == AttentionTensor::lse ? sizeof(float) : work::size_of(p.type);
    const auto element = work::position(p, tensor, at.entry, at.head, at.row);
    return static_cast<std::byte*>(const_cast<void*>(from)) +
           static_cast<std::size_t>(element) * size;
}

}  // namespace

FilledSource::FilledSource(const AttentionCase& attention, const work::Attention& inner,
                           std::uint64_t seed)
    : attention_(attention), inner_(inner), seed_(seed) {}

void FilledSource::make(std::uint32_t stream, std::int64_t first, std::span<double> into) const {
    alignas(8) std::byte raw[8 * 64];
    const work::FillSpec spec{attention_.inputs, seed_, stream};
    for (std::size_t done = 0; done < into.size(); done += 64) {
        const auto count = std::min<std::size_t>(64, into.size() - done);
        work::fill(spec, inner_.type, static_cast<std::uint64_t>(first) + done, count, raw);
        for (std::size_t i = 0; i < count; ++i) into[done + i] = work::load(inner_.type, raw, i);
    }
}

void FilledSource::read(AttentionTensor tensor, std::int64_t entry, std::int64_t head,
                        std::int64_t row, std::span<double> into) const {
    const auto [stream, base] = fill_place(attention_, tensor);
    const auto first = base + work::position(inner_, tensor, entry, head, row);
    if (tensor == AttentionTensor::q) return make(stream, first, into);
    auto& kept = kept_[tensor];
    if (kept.entry != entry || kept.head != head) {
        const auto rows = static_cast<std::size_t>(work::keys_of(inner_, entry));
        kept.entry = entry;
        kept.head = head;
        kept.values.resize(rows * into.size());
        kept.made.assign(rows, false);
    }
    const auto index = static_cast<std::size_t>(row);
    const auto values = std::span(kept.values).subspan(index * into.size(), into.size());
    if (!kept.made[index]) {
        make(stream, first, values);
        kept.made[index] = true;
    }
    std::ranges::copy(values, into.begin());
}

void FilledSource::read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                                 std::span<double> into) const {
    const auto first = work::position(inner_, AttentionTensor::o, entry, head, row);
    if (gradient_first_ != first) {
        gradient_.resize(into.size());
        make(kStreamGradient, first, gradient_);
        gradient_first_ = first;
    }
    std::ranges::copy(gradient_, into.begin());
}

void FilledSource::forget() {
    kept_.clear();
}

double FilledSource::bias(std::int64_t head, std::int64_t query, std::int64_t key) const {
    double value = 0;
    make(kStreamScoreBias, (head * inner_.queries + query) * inner_.keys + key, {&value, 1});
    return value;
}

std::vector<SampledRow> sampled_queries(const work::Attention& p, double budget) {
    return sampled(p, true, budget, [&](const SampledRow& at) {
        const work::MaskRows rows(p.mask, work::queries_of(p, at.entry),
                                  work::keys_of(p, at.entry));
        std::int64_t pairs = 0;
        for (const auto& span : rows.seen(at.row)) pairs += span.size();
        return static_cast<double>(pairs) * static_cast<double>(p.dim + p.value_dim);
    });
}

std::vector<SampledRow> sampled_keys(const work::Attention& p, double budget) {
    std::map<std::pair<std::int64_t, std::int64_t>, double> known;  // it is the same for all heads
    return sampled(p, false, budget, [&](const SampledRow& at) {
        const auto [cost, is_new] = known.try_emplace({at.entry, at.row});
        if (!is_new) return cost->second;
        const work::MaskRows rows(p.mask, work::queries_of(p, at.entry),
                                  work::keys_of(p, at.entry));
        std::int64_t pairs = 0;
        for (std::int64_t query = 0; query < rows.queries(); ++query) {
            pairs += rows.sees(query, at.row) ? 1 : 0;
        }
        cost->second = static_cast<double>(pairs * group_of(p)) *
                       static_cast<double>(2 * p.dim + 3 * p.value_dim);
        return cost->second;
    });
}

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
                {at, std::move(gradient.d_q), remainder_of(attention_, gradient.terms)});
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
