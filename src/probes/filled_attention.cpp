#include "probes/filled_attention.h"

#include <algorithm>
#include <cstddef>

#include "probes/attention_operands.h"
#include "work/fill.h"

namespace assay::probes {

using work::AttentionTensor;

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

}  // namespace assay::probes
