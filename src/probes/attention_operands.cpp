#include "probes/attention_operands.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "base/units.h"
#include "ops/fill.h"
#include "probes/matmul_operands.h"

namespace assay::probes {

namespace {

using work::AttentionTensor;

constexpr std::uint64_t kAlignment = 256;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::int64_t elements_of(const AttentionCase& attention, AttentionTensor tensor) {
    const auto& p = attention.problem;
    const bool goes_on = p.ragged() || !p.mask.documents.empty();
    return work::extent(p, tensor) + (goes_on ? ops::kSpareRows * p.of(tensor).row : 0);
}

std::uint64_t bytes_of(const AttentionCase& attention, AttentionTensor tensor) {
    const auto size =
        tensor == AttentionTensor::lse ? sizeof(float) : work::size_of(attention.problem.type);
    return aligned(static_cast<std::uint64_t>(elements_of(attention, tensor)) * size);
}

std::uint64_t packed_bytes(const AttentionCase& attention) {
    std::int64_t elements = 0;
    for (const auto tensor : {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v}) {
        elements = std::max(elements,
                            fill_place(attention, tensor).first + elements_of(attention, tensor));
    }
    return aligned(static_cast<std::uint64_t>(elements) * work::size_of(attention.problem.type));
}

std::uint64_t bias_bytes(const work::Attention& p) {
    if (!p.modifier.bias) return 0;
    return aligned(static_cast<std::uint64_t>(p.heads) * static_cast<std::uint64_t>(p.queries) *
                   static_cast<std::uint64_t>(p.keys) * work::size_of(p.type));
}

// Copies rows of `inner` from `from` to `to`, both laid out by its strides.
void copy_rows(const work::Attention& inner, AttentionTensor tensor, const std::byte* from,
               std::byte* to) {
    const auto size = work::size_of(inner.type);
    const auto bytes = static_cast<std::size_t>(work::width_of(inner, tensor)) * size;
    for (std::int64_t entry = 0; entry < inner.batch; ++entry) {
        const auto rows = work::is_of_queries(tensor) ? work::queries_of(inner, entry)
                                                      : work::keys_of(inner, entry);
        for (std::int64_t head = 0; head < work::heads_of(inner, tensor); ++head) {
            for (std::int64_t row = 0; row < rows; ++row) {
                const auto at =
                    static_cast<std::size_t>(work::position(inner, tensor, entry, head, row)) *
                    size;
                std::memcpy(to + at, from + at, bytes);
            }
        }
    }
}

}  // namespace

FillPlace fill_place(const AttentionCase& attention, AttentionTensor tensor) {
    const auto& p = attention.problem;
    const bool packed = attention.layout == work::AttentionLayout::packed;
    switch (tensor) {
        case AttentionTensor::k:
            return packed ? FillPlace{kStreamQ, p.heads * p.dim} : FillPlace{kStreamK, 0};
        case AttentionTensor::v:
            return packed ? FillPlace{kStreamQ, (p.heads + p.kv_heads) * p.dim}
                          : FillPlace{kStreamV, 0};
        case AttentionTensor::q:
        case AttentionTensor::o:
        case AttentionTensor::lse:
            break;
    }
    return {kStreamQ, 0};
}

RotatingAttention::RotatingAttention(device::Device& device, const AttentionCase& attention,
                                     std::uint64_t seed, const work::Attention* inner)
    : device_(device), attention_(attention), seed_(seed) {
    measure_parts();
    for (const auto* part : parts()) set_bytes_ += part->bytes;
    const std::uint64_t free = device.memory().free;
    if (set_bytes_ > free) {
        throw Unsupported(
            "one set of tensors needs " + format_bytes(static_cast<double>(set_bytes_)) + ", and " +
                format_bytes(static_cast<double>(free)) + " of " + device.facts().id + " are free",
            "choose a smaller batch, sequence or number of heads");
    }
    if (attention.cache == CacheState::cold) {
        const std::uint64_t cold = 2 * device.facts().last_level_cache_bytes;
        const std::uint64_t wanted =
            std::max<std::uint64_t>(2, (cold + set_bytes_ - 1) / set_bytes_);
        const std::uint64_t possible = std::max<std::uint64_t>(1, free / 2 / set_bytes_);
        sets_ = static_cast<int>(std::min(wanted, possible));
        if (possible < wanted) {
            note_ = "operands rotate over " + std::to_string(sets_) +
                    " sets where a cold run wants " + std::to_string(wanted) + ": " +
                    format_bytes(static_cast<double>(free)) + " are free";
        }
    }
    for (auto* part : parts()) {
        part->memory = device.allocate(part->bytes * static_cast<std::uint64_t>(sets_));
    }
    fill(inner);
}

void RotatingAttention::measure_parts() {
    const bool backward = attention_.pass == work::AttentionPass::backward;
    const bool packed = attention_.layout == work::AttentionLayout::packed;
    q_.bytes = packed ? packed_bytes(attention_) : bytes_of(attention_, AttentionTensor::q);
    if (!packed) {
        k_.bytes = bytes_of(attention_, AttentionTensor::k);
        v_.bytes = bytes_of(attention_, AttentionTensor::v);
    }
    bias_.bytes = bias_bytes(attention_.problem);
    o_.bytes = bytes_of(attention_, AttentionTensor::o);
    lse_.bytes = bytes_of(attention_, AttentionTensor::lse);
    if (!backward) return;
    d_o_.bytes = o_.bytes;
    d_q_.bytes = q_.bytes;
    d_k_.bytes = k_.bytes;
    d_v_.bytes = v_.bytes;
}

// Those that the case has.
std::vector<RotatingAttention::Part*> RotatingAttention::parts() {
    std::vector<Part*> parts{&q_, &k_, &v_, &bias_, &o_, &lse_, &d_o_, &d_q_, &d_k_, &d_v_};
    std::erase_if(parts, [](const Part* part) { return part->bytes == 0; });
    return parts;
}

void RotatingAttention::fill(const work::Attention* inner) {
    struct Input {
        Part* part;
        std::uint32_t stream;
        std::vector<AttentionTensor> tensors;  // that lie in it; none: never padded
    };
    const bool packed = attention_.layout == work::AttentionLayout::packed;
    std::vector<AttentionTensor> first{AttentionTensor::q};
    if (packed) first = {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v};
    const std::array<Input, 5> inputs{{{&q_, kStreamQ, first},
                                       {&k_, kStreamK, {AttentionTensor::k}},
                                       {&v_, kStreamV, {AttentionTensor::v}},
                                       {&bias_, kStreamScoreBias, {}},
                                       {&d_o_, kStreamGradient, {AttentionTensor::o}}}};
    const auto type = attention_.problem.type;
    const auto size = work::size_of(type);
    auto& filler = device_.need<ops::Fill>();
    const auto stream = device_.create_stream();
    for (const auto& [part, counter, tensors] : inputs) {
        if (part->bytes == 0) continue;
        const work::FillSpec spec{attention_.inputs, seed_, counter};
        const auto elements = part->bytes / size;
        // One counter runs through all sets of a tensor, so that sets differ.
        if (inner == nullptr || tensors.empty()) {
            filler.enqueue(*stream, spec, type, elements * static_cast<std::uint64_t>(sets_),
                           part->memory->data());
            continue;
        }
        for (std::uint64_t set = 0; set < static_cast<std::uint64_t>(sets_); ++set) {
            std::vector<std::byte> whole(part->bytes), rows(part->bytes);
            work::fill(spec, type, set * elements, elements, whole.data());
            for (const auto tensor : tensors) {
                const auto offset =
                    static_cast<std::size_t>(fill_place(attention_, tensor).first) * size;
                copy_rows(*inner, tensor, whole.data() + offset, rows.data() + offset);
            }
            device_.copy_in(at(*part, set), rows.data(), rows.size());
        }
    }
    stream->synchronize();

    for (const auto* part : {&o_, &lse_, &d_q_, &d_k_, &d_v_}) {  // of the set that is checked
        const std::vector<std::byte> poison(
            std::min<std::uint64_t>(part->bytes, std::uint64_t{1} << 20), kPoison);
        for (std::uint64_t done = 0; done < part->bytes; done += poison.size()) {
            device_.copy_in(at(*part, 0) + done, poison.data(),
                            std::min<std::uint64_t>(poison.size(), part->bytes - done));
        }
    }
}

std::byte* RotatingAttention::at(const Part& part, std::size_t index, std::int64_t first) const {
    if (!part.memory) return nullptr;
    const auto set = index % static_cast<std::uint64_t>(sets_);
    return static_cast<std::byte*>(part.memory->data()) + set * part.bytes +
           static_cast<std::uint64_t>(first) * work::size_of(attention_.problem.type);
}

ops::AttentionOperands RotatingAttention::set(std::size_t index) const {
    const bool packed = attention_.layout == work::AttentionLayout::packed;
    const auto& keys = packed ? q_ : k_;
    const auto& values = packed ? q_ : v_;
    const auto k = fill_place(attention_, AttentionTensor::k).first;
    const auto v = fill_place(attention_, AttentionTensor::v).first;
    ops::AttentionOperands operands;
    operands.q = at(q_, index);
    operands.k = at(keys, index, k);
    operands.v = at(values, index, v);
    operands.bias = at(bias_, index);
    operands.o = at(o_, index);
    operands.lse = static_cast<float*>(static_cast<void*>(at(lse_, index)));
    operands.d_o = at(d_o_, index);
    operands.d_q = at(d_q_, index);
    operands.d_k = at(packed ? d_q_ : d_k_, index, k);
    operands.d_v = at(packed ? d_q_ : d_v_, index, v);
    return operands;
}

std::unique_ptr<measure::StreamSubject> rotating_subject(std::string name, device::Device& device,
                                                         ops::PreparedAttention& prepared,
                                                         const RotatingAttention& operands,
                                                         std::function<void()> clear) {
    return std::make_unique<measure::StreamSubject>(
        std::move(name), device,
        [&prepared, &operands](device::Stream& stream, std::size_t call) {
            prepared.enqueue(stream, operands.set(call));
        },
        std::move(clear));
}

void run_on_every_set(device::Device& device, ops::PreparedAttention& prepared,
                      const RotatingAttention& operands) {
    const auto stream = device.create_stream();
    for (int set = 0; set < operands.sets(); ++set) {
        prepared.enqueue(*stream, operands.set(static_cast<std::size_t>(set)));
    }
    stream->synchronize();
}

}  // namespace assay::probes
