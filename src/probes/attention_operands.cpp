#include "probes/attention_operands.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "work/fill.h"

namespace assay::probes {

namespace {

using work::AttentionTensor;

enum Operand : std::size_t { kQ, kK, kV, kBias, kO, kLse, kDO, kDQ, kDK, kDV };

std::int64_t elements_of(const AttentionCase& attention, AttentionTensor tensor) {
    const auto& p = attention.problem;
    const bool goes_on = p.ragged() || !p.mask.documents.empty();
    return work::extent(p, tensor) + (goes_on ? ops::kSpareRows * p.of(tensor).row : 0);
}

std::uint64_t bytes_of(const AttentionCase& attention, AttentionTensor tensor) {
    const auto size =
        tensor == AttentionTensor::lse ? sizeof(float) : work::size_of(attention.problem.type);
    return static_cast<std::uint64_t>(elements_of(attention, tensor)) * size;
}

std::uint64_t packed_bytes(const AttentionCase& attention) {
    std::int64_t elements = 0;
    for (const auto tensor : {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v}) {
        elements = std::max(elements,
                            fill_place(attention, tensor).first + elements_of(attention, tensor));
    }
    return static_cast<std::uint64_t>(elements) * work::size_of(attention.problem.type);
}

std::uint64_t bias_bytes(const work::Attention& p) {
    if (!p.modifier.bias) return 0;
    return static_cast<std::uint64_t>(p.heads) * static_cast<std::uint64_t>(p.queries) *
           static_cast<std::uint64_t>(p.keys) * work::size_of(p.type);
}

bool is_packed(const AttentionCase& attention) {
    return attention.layout == work::AttentionLayout::packed;
}

SetPlan plan_of(const device::Device& device, const AttentionCase& attention, std::uint64_t free) {
    std::vector<std::uint64_t> bytes(kDV + 1);
    bytes[kQ] =
        is_packed(attention) ? packed_bytes(attention) : bytes_of(attention, AttentionTensor::q);
    if (!is_packed(attention)) {
        bytes[kK] = bytes_of(attention, AttentionTensor::k);
        bytes[kV] = bytes_of(attention, AttentionTensor::v);
    }
    bytes[kBias] = bias_bytes(attention.problem);
    bytes[kO] = bytes_of(attention, AttentionTensor::o);
    bytes[kLse] = bytes_of(attention, AttentionTensor::lse);
    if (attention.pass == work::AttentionPass::backward) {
        bytes[kDO] = bytes[kO];
        bytes[kDQ] = bytes[kQ];
        bytes[kDK] = bytes[kK];
        bytes[kDV] = bytes[kV];
    }
    return plan_sets(device, std::move(bytes), attention.cache, free,
                     {"tensors", "choose a smaller batch, sequence or number of heads"});
}

struct Input {
    Operand operand;
    std::uint32_t stream;
};
constexpr std::array<Input, 5> kInputs{{{kQ, kStreamQ},
                                        {kK, kStreamK},
                                        {kV, kStreamV},
                                        {kBias, kStreamScoreBias},
                                        {kDO, kStreamGradient}}};

void fill(device::Device& device, const RotatingSets& sets, const AttentionCase& attention,
          std::uint64_t seed) {
    const auto stream = device.create_stream();
    for (const auto& [operand, counter] : kInputs) {
        sets.fill(*stream, operand, {attention.inputs, seed, counter}, attention.problem.type);
    }
    stream->synchronize();
}

void poison_outputs(const RotatingSets& sets) {
    for (const auto operand : {kO, kLse, kDQ, kDK, kDV}) sets.poison(operand);
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

SharedAttention::SharedAttention(device::Device& device, std::span<const AttentionCase> cases,
                                 std::uint64_t seed)
    : free_(device.memory().free) {
    SetPlan whole;  // each operand as large as any case has it, in all sets together
    whole.bytes.assign(kDV + 1, 0);
    for (const auto& one : cases) {
        try {
            const auto plan = plan_of(device, one, free_);
            for (std::size_t i = 0; i < plan.bytes.size(); ++i) {
                if (i != kLse) whole.bytes[i] = std::max(whole.bytes[i], plan.bytes_of_all(i));
            }
        } catch (const Unsupported&) {
            continue;  // it is told when its turn comes
        }
    }
    if (cases.empty()) return;
    const RotatingSets sets(device, whole);
    fill(device, sets, cases.front(), seed);
    memory_ = sets.memory();
}

RotatingAttention::RotatingAttention(device::Device& device, const AttentionCase& attention,
                                     std::uint64_t seed, const work::Attention* inner)
    : attention_(attention), sets_(device, plan_of(device, attention, device.memory().free)) {
    if (inner == nullptr) {
        fill(device, sets_, attention, seed);
    } else {
        fill_inner(device, *inner, seed);
    }
    poison_outputs(sets_);
}

RotatingAttention::RotatingAttention(device::Device& device, const AttentionCase& attention,
                                     const SharedAttention& shared)
    : attention_(attention),
      sets_(device, plan_of(device, attention, shared.free_), shared.memory_) {
    poison_outputs(sets_);
}

void RotatingAttention::fill_inner(device::Device& device, const work::Attention& inner,
                                   std::uint64_t seed) {
    const auto type = attention_.problem.type;
    const auto size = work::size_of(type);
    const auto stream = device.create_stream();
    // A bias is never padded.
    sets_.fill(*stream, kBias, {attention_.inputs, seed, kStreamScoreBias}, type);
    stream->synchronize();
    const auto copy = [&](Operand operand, std::uint32_t counter,
                          const std::vector<AttentionTensor>& tensors) {
        const auto bytes = sets_.bytes(operand);
        if (bytes == 0) return;
        const work::FillSpec spec{attention_.inputs, seed, counter};
        for (std::uint64_t set = 0; set < static_cast<std::uint64_t>(sets()); ++set) {
            std::vector<std::byte> whole(bytes), rows(bytes);
            work::fill(spec, type, set * bytes / size, bytes / size, whole.data());
            for (const auto tensor : tensors) {
                const auto offset =
                    static_cast<std::size_t>(fill_place(attention_, tensor).first) * size;
                copy_rows(inner, tensor, whole.data() + offset, rows.data() + offset);
            }
            device.copy_in(sets_.at(operand, set), rows.data(), rows.size());
        }
    };
    if (is_packed(attention_)) {
        copy(kQ, kStreamQ, {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v});
    } else {
        copy(kQ, kStreamQ, {AttentionTensor::q});
        copy(kK, kStreamK, {AttentionTensor::k});
        copy(kV, kStreamV, {AttentionTensor::v});
    }
    copy(kDO, kStreamGradient, {AttentionTensor::o});
}

ops::AttentionOperands RotatingAttention::set(std::size_t index) const {
    const bool packed = is_packed(attention_);
    const auto at = [&](Operand operand, AttentionTensor tensor = AttentionTensor::q) {
        auto* const data = sets_.at(operand, index);
        const auto first = static_cast<std::size_t>(fill_place(attention_, tensor).first);
        return data == nullptr ? nullptr : data + first * work::size_of(attention_.problem.type);
    };
    ops::AttentionOperands operands;
    operands.q = at(kQ);
    operands.k = at(packed ? kQ : kK, AttentionTensor::k);
    operands.v = at(packed ? kQ : kV, AttentionTensor::v);
    operands.bias = at(kBias);
    operands.o = at(kO);
    operands.lse = static_cast<float*>(static_cast<void*>(at(kLse)));
    operands.d_o = at(kDO);
    operands.d_q = at(kDQ);
    operands.d_k = at(packed ? kDQ : kDK, AttentionTensor::k);
    operands.d_v = at(packed ? kDQ : kDV, AttentionTensor::v);
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
