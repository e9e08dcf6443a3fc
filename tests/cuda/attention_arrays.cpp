#include "attention_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "distance.h"
#include "work/fill.h"

namespace assay::cuda {
namespace {

using work::AttentionTensor;
using work::Type;

constexpr unsigned char kUntouched = 0xFF;  // NaN in every type
constexpr std::int64_t kGuard = 64;         // elements after the end
constexpr double kLseTolerance = 1e-4;      // times max(1, |lse|): it is fp32 for every type

void fill_untouched(std::vector<unsigned char>& array, std::int64_t elements, Type type) {
    array.assign(static_cast<std::size_t>(elements) * work::size_of(type), kUntouched);
}

// Calls `use` with the place of each row and its number in order.
template <class Use>
void each_place(const work::Attention& p, AttentionTensor tensor, const Use& use) {
    std::int64_t number = 0;
    work::each_row(p, tensor, [&](std::int64_t entry, std::int64_t head, std::int64_t row) {
        use(entry, head, row, work::position(p, tensor, entry, head, row), number++);
    });
}

}  // namespace

AttentionExample::AttentionExample(work::Attention problem, std::int64_t shift)
    : problem_(std::move(problem)), shift_(shift) {
    work::validate(problem_);
    const auto type = problem_.type;
    std::uint32_t stream = 1;
    const auto size = [&](AttentionTensor tensor) {
        return work::extent(problem_, tensor) + shift_ + kGuard;
    };
    const auto operand = [&](std::vector<unsigned char>& array, AttentionTensor tensor) {
        fill_untouched(array, size(tensor), type);
        const auto width = work::width_of(problem_, tensor);
        const work::FillSpec spec{work::Distribution::normal, 5, stream++};
        each_place(problem_, tensor, [&](auto, auto, auto, std::int64_t at, std::int64_t number) {
            for (std::int64_t c = 0; c < width; ++c) {
                set(array, type, at + c,
                    work::fill_value(spec, type, static_cast<std::uint64_t>(number * width + c)));
            }
        });
    };
    operand(arrays_.q, AttentionTensor::q);
    operand(arrays_.k, AttentionTensor::k);
    operand(arrays_.v, AttentionTensor::v);
    operand(arrays_.d_o, AttentionTensor::o);
    fill_untouched(arrays_.o, size(AttentionTensor::o), type);
    fill_untouched(arrays_.lse, size(AttentionTensor::lse), Type::fp32);
    fill_untouched(arrays_.d_q, size(AttentionTensor::q), type);
    fill_untouched(arrays_.d_k, size(AttentionTensor::k), type);
    fill_untouched(arrays_.d_v, size(AttentionTensor::v), type);
    values_.q = decoded(arrays_.q);
    values_.k = decoded(arrays_.k);
    values_.v = decoded(arrays_.v);
    values_.d_o = decoded(arrays_.d_o);
    if (problem_.modifier.bias) {
        const auto count = problem_.heads * problem_.queries * problem_.keys;
        fill_untouched(arrays_.bias, count + shift_ + kGuard, type);
        for (std::int64_t i = 0; i < count; ++i) {
            set(arrays_.bias, type, i,
                work::fill_value({work::Distribution::normal, 5, 9}, type,
                                 static_cast<std::uint64_t>(i)));
        }
    }
}

std::vector<double> AttentionExample::decoded(const std::vector<unsigned char>& array) const {
    std::vector<double> values(array.size() / work::size_of(problem_.type));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = work::load(problem_.type, array.data(), i);
    }
    return values;
}

std::size_t AttentionExample::offset() const {
    return static_cast<std::size_t>(shift_) * work::size_of(problem_.type);
}

double AttentionExample::element(const std::vector<unsigned char>& array, Type type,
                                 std::int64_t at) const {
    // The log-sum-exps aren't shifted by less than a float.
    return work::load(type, array.data(), static_cast<std::uint64_t>(shift_ + at));
}

void AttentionExample::set(std::vector<unsigned char>& array, Type type, std::int64_t at,
                           double value) const {
    work::store(type, value,
                array.data() + static_cast<std::size_t>(shift_ + at) * work::size_of(type));
}

void AttentionExample::read(AttentionTensor tensor, std::int64_t entry, std::int64_t head,
                            std::int64_t row, std::span<double> into) const {
    const auto& values = tensor == AttentionTensor::q   ? values_.q
                         : tensor == AttentionTensor::k ? values_.k
                                                        : values_.v;
    const auto at = shift_ + work::position(problem_, tensor, entry, head, row);
    std::copy_n(values.begin() + at, into.size(), into.begin());
}

void AttentionExample::read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                                     std::span<double> into) const {
    const auto at = shift_ + work::position(problem_, AttentionTensor::o, entry, head, row);
    std::copy_n(values_.d_o.begin() + at, into.size(), into.begin());
}

double AttentionExample::bias(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return element(arrays_.bias, problem_.type,
                   (head * problem_.queries + query) * problem_.keys + key);
}

void AttentionExample::compute() const {
    if (right_.lse.empty()) right_ = work::expected(problem_, *this);
}

void AttentionExample::write(std::vector<unsigned char>& array, AttentionTensor tensor, Type type,
                             const std::vector<double>& values) {
    const auto width = work::width_of(problem_, tensor);
    each_place(problem_, tensor, [&](auto, auto, auto, std::int64_t at, std::int64_t number) {
        for (std::int64_t c = 0; c < width; ++c) {
            set(array, type, at + c, values[static_cast<std::size_t>(number * width + c)]);
        }
    });
}

void AttentionExample::take_forward() {
    compute();
    write(arrays_.o, AttentionTensor::o, problem_.type, right_.o);
    write(arrays_.lse, AttentionTensor::lse, Type::fp32, right_.lse);
}

void AttentionExample::take_backward() {
    compute();
    write(arrays_.d_q, AttentionTensor::q, problem_.type, right_.d_q);
    write(arrays_.d_k, AttentionTensor::k, problem_.type, right_.d_k);
    write(arrays_.d_v, AttentionTensor::v, problem_.type, right_.d_v);
}

std::string AttentionExample::compare(const char* what, const std::vector<unsigned char>& got,
                                      AttentionTensor tensor, Type type,
                                      const std::vector<double>& right) const {
    const auto width = work::width_of(problem_, tensor);
    auto rest = got;  // what no row has
    Distance distance;
    double off = 0, whole = 0;
    std::string mistake;
    each_place(
        problem_, tensor,
        [&](std::int64_t entry, std::int64_t head, std::int64_t row, std::int64_t at,
            std::int64_t number) {
            for (std::int64_t c = 0; c < width; ++c) {
                const double wanted = right[static_cast<std::size_t>(number * width + c)];
                const double value = element(got, type, at + c);
                const auto byte = static_cast<std::size_t>(shift_ + at + c) * work::size_of(type);
                std::memset(rest.data() + byte, kUntouched, work::size_of(type));
                const bool exact = wanted == 0 || std::isinf(wanted);
                const bool wrong = !std::isfinite(wanted) ? value != wanted : !std::isfinite(value);
                if ((wrong || (exact && wanted == 0 && std::abs(value) > 1e-3)) &&
                    mistake.empty()) {
                    mistake = fmt::format("{}[{}, {}, {}, {}] is {}, not {}", what, entry, head,
                                          row, c, value, wanted);
                }
                if (!std::isfinite(wanted)) continue;
                off += (value - wanted) * (value - wanted);
                whole += wanted * wanted;
                distance.add(value, wanted);
                if (tensor == AttentionTensor::lse && mistake.empty() &&
                    std::abs(value - wanted) > kLseTolerance * std::max(1.0, std::abs(wanted))) {
                    mistake = fmt::format("lse[{}, {}, {}] is {:.9g}, not {:.9g}", entry, head, row,
                                          value, wanted);
                }
            }
            distance.end_row();
        });
    if (!mistake.empty()) return mistake;
    if (std::ranges::any_of(rest, [](unsigned char byte) { return byte != kUntouched; })) {
        return fmt::format("{} is written beside its rows", what);
    }
    const double tolerance = work::tolerance(problem_.type);
    // Where all is 0, so is every row.
    const double error = whole > 0 ? distance.value() : std::sqrt(off);
    if (!(error <= tolerance)) return fmt::format("{} is off by {:.2e}", what, error);
    const auto worst = whole > 0 ? distance.worst_row() : Distance::Row{};
    if (worst.value <= kRowSlack * tolerance) return "";
    return fmt::format("row {} of {} is off by {:.2e}", worst.number, what, worst.value);
}

std::string AttentionExample::forward_mistake() const {
    compute();
    auto mistake = compare("o", arrays_.o, AttentionTensor::o, problem_.type, right_.o);
    if (!mistake.empty()) return mistake;
    return compare("lse", arrays_.lse, AttentionTensor::lse, Type::fp32, right_.lse);
}

std::string AttentionExample::backward_mistake() const {
    compute();
    auto mistake = compare("d_v", arrays_.d_v, AttentionTensor::v, problem_.type, right_.d_v);
    if (mistake.empty()) {
        mistake = compare("d_k", arrays_.d_k, AttentionTensor::k, problem_.type, right_.d_k);
    }
    if (mistake.empty()) {
        mistake = compare("d_q", arrays_.d_q, AttentionTensor::q, problem_.type, right_.d_q);
    }
    return mistake;
}

}  // namespace assay::cuda
