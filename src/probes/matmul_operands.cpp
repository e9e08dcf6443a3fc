#include "probes/matmul_operands.h"

#include <vector>

namespace assay::probes {

namespace {

enum Operand : std::size_t { kA, kB, kC, kBias };

SetPlan plan_of(const device::Device& device, const MatmulCase& matmul) {
    const auto& p = matmul.problem;
    const auto bias_elements =
        work::has_bias(p.epilogue) ? static_cast<std::uint64_t>(p.n) : std::uint64_t{0};
    return plan_sets(
        device,
        {work::a_elements(p) * work::size_of(p.operand),
         work::b_elements(p) * work::size_of(work::type_b(p)),
         work::c_elements(p) * work::size_of(p.output), bias_elements * work::size_of(p.output)},
        matmul.cache, device.memory().free, {"operands", "choose a smaller shape, batch or type"});
}

}  // namespace

RotatingOperands::RotatingOperands(device::Device& device, const MatmulCase& matmul,
                                   std::uint64_t seed)
    : sets_(device, plan_of(device, matmul)) {
    const auto& p = matmul.problem;
    const auto stream = device.create_stream();
    sets_.fill(*stream, kA, {matmul.inputs, seed, kStreamA}, p.operand);
    sets_.fill(*stream, kB, {matmul.inputs, seed, kStreamB}, work::type_b(p));
    sets_.fill(*stream, kBias, {matmul.inputs, seed, kStreamBias}, p.output);
    stream->synchronize();
    sets_.poison(kC);
}

ops::MatmulOperands RotatingOperands::set(std::size_t index) const {
    ops::MatmulOperands operands;
    operands.a = sets_.at(kA, index);
    operands.b = sets_.at(kB, index);
    operands.bias = sets_.at(kBias, index);
    operands.c = sets_.at(kC, index);
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
