#include "probes/matmul_operands.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "ops/fill.h"

namespace assay::probes {

namespace {

constexpr std::uint64_t kAlignment = 256;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct SetBytes {
    std::uint64_t a, b, c, bias;
};

SetBytes bytes_of(const work::Matmul& p) {
    const auto bias_elements =
        work::has_bias(p.epilogue) ? static_cast<std::uint64_t>(p.n) : std::uint64_t{0};
    return {aligned(work::a_elements(p) * work::size_of(p.operand)),
            aligned(work::b_elements(p) * work::size_of(work::type_b(p))),
            aligned(work::c_elements(p) * work::size_of(p.output)),
            aligned(bias_elements * work::size_of(p.output))};
}

const std::byte* at(const std::unique_ptr<device::Buffer>& buffer, std::uint64_t offset) {
    return buffer ? static_cast<const std::byte*>(buffer->data()) + offset : nullptr;
}

}  // namespace

RotatingOperands::RotatingOperands(device::Device& device, const MatmulCase& matmul,
                                   std::uint64_t seed)
    : device_(device), matmul_(matmul), seed_(seed) {
    const auto bytes = bytes_of(matmul.problem);
    set_bytes_ = bytes.a + bytes.b + bytes.c + bytes.bias;
    const std::uint64_t free = device.memory().free;
    if (set_bytes_ > free) {
        throw Unsupported("one set of operands needs " +
                              format_bytes(static_cast<double>(set_bytes_)) + ", and " +
                              format_bytes(static_cast<double>(free)) + " of " + device.facts().id +
                              " are free",
                          "choose a smaller shape, batch or type");
    }
    if (matmul.cache == CacheState::cold) {
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
    const auto sets = static_cast<std::uint64_t>(sets_);
    a_ = device.allocate(bytes.a * sets);
    b_ = device.allocate(bytes.b * sets);
    c_ = device.allocate(bytes.c * sets);
    if (bytes.bias > 0) bias_ = device.allocate(bytes.bias * sets);
    fill();
}

void RotatingOperands::fill() {
    const auto& p = matmul_.problem;
    const auto bytes = bytes_of(p);
    auto& filler = device_.need<ops::Fill>();
    const auto stream = device_.create_stream();
    // One counter runs through all sets of an operand (its padding included), so that sets differ.
    const auto fill_all = [&](device::Buffer& buffer, std::uint64_t total, work::Type type,
                              std::uint32_t counter) {
        filler.enqueue(*stream, {matmul_.inputs, seed_, counter}, type,
                       total * static_cast<std::uint64_t>(sets_) / work::size_of(type),
                       buffer.data());
    };
    fill_all(*a_, bytes.a, p.operand, kStreamA);
    fill_all(*b_, bytes.b, work::type_b(p), kStreamB);
    if (bias_) fill_all(*bias_, bytes.bias, p.output, kStreamBias);
    stream->synchronize();

    // The set that is checked.
    const std::vector<std::byte> poison(std::min<std::uint64_t>(bytes.c, std::uint64_t{1} << 20),
                                        kPoison);
    for (std::uint64_t done = 0; done < bytes.c; done += poison.size()) {
        device_.copy_in(static_cast<std::byte*>(c_->data()) + done, poison.data(),
                        std::min<std::uint64_t>(poison.size(), bytes.c - done));
    }
}

ops::MatmulOperands RotatingOperands::set(std::size_t index) const {
    const auto bytes = bytes_of(matmul_.problem);
    const std::uint64_t s = index % static_cast<std::uint64_t>(sets_);
    ops::MatmulOperands operands;
    operands.a = at(a_, s * bytes.a);
    operands.b = at(b_, s * bytes.b);
    operands.bias = at(bias_, s * bytes.bias);
    operands.c = static_cast<std::byte*>(c_->data()) + s * bytes.c;
    return operands;
}

std::unique_ptr<measure::StreamSubject> rotating_subject(std::string name, device::Device& device,
                                                         ops::PreparedMatmul& matmul,
                                                         const RotatingOperands& operands,
                                                         std::function<void()> clear) {
    return std::make_unique<measure::StreamSubject>(
        std::move(name), device,
        [&matmul, &operands](device::Stream& stream, std::size_t call) {
            matmul.enqueue(stream, operands.set(call));
        },
        std::move(clear));
}

}  // namespace assay::probes
