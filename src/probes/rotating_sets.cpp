#include "probes/rotating_sets.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "ops/fill.h"

namespace assay::probes {

namespace {

constexpr std::uint64_t kAlignment = 256;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::uint64_t SetPlan::set_bytes() const {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

SetPlan plan_sets(const device::Device& device, std::vector<std::uint64_t> bytes, CacheState cache,
                  std::uint64_t free, const NoRoom& no_room) {
    SetPlan plan;
    plan.bytes = std::move(bytes);
    for (auto& one : plan.bytes) one = aligned(one);
    const auto set_bytes = plan.set_bytes();
    const auto free_text = format_bytes(static_cast<double>(free));
    if (set_bytes > free) {
        throw Unsupported(
            fmt::format("one set of {} needs {}, and {} of {} are free", no_room.operands,
                        format_bytes(static_cast<double>(set_bytes)), free_text, device.facts().id),
            no_room.hint);
    }
    if (cache == CacheState::hot) return plan;
    const std::uint64_t cold = 2 * device.facts().last_level_cache_bytes;
    const std::uint64_t wanted = std::max<std::uint64_t>(2, (cold + set_bytes - 1) / set_bytes);
    const std::uint64_t possible = std::max<std::uint64_t>(1, free / 2 / set_bytes);
    plan.sets = static_cast<int>(std::min(wanted, possible));
    if (possible < wanted) {
        plan.note =
            fmt::format("operands rotate over {} sets where a cold run wants {}: {} are free",
                        plan.sets, wanted, free_text);
    }
    return plan;
}

RotatingSets::RotatingSets(device::Device& device, SetPlan plan)
    : RotatingSets(device, std::move(plan), {}) {}

RotatingSets::RotatingSets(device::Device& device, SetPlan plan, std::vector<Memory> memory)
    : device_(device), plan_(std::move(plan)), memory_(std::move(memory)) {
    memory_.resize(plan_.bytes.size());
    for (std::size_t i = 0; i < memory_.size(); ++i) {
        if (!memory_[i] && plan_.bytes[i] > 0) memory_[i] = device.allocate(plan_.bytes_of_all(i));
    }
}

std::byte* RotatingSets::at(std::size_t operand, std::size_t index) const {
    if (plan_.bytes[operand] == 0) return nullptr;
    const auto set = index % static_cast<std::uint64_t>(plan_.sets);
    return static_cast<std::byte*>(memory_[operand]->data()) + set * plan_.bytes[operand];
}

void RotatingSets::fill(device::Stream& stream, std::size_t operand, const work::FillSpec& spec,
                        work::Type type) const {
    if (plan_.bytes[operand] == 0) return;
    device_.need<ops::Fill>().enqueue(stream, spec, type,
                                      plan_.bytes_of_all(operand) / work::size_of(type),
                                      memory_[operand]->data());
}

void RotatingSets::poison(std::size_t operand) const {
    const auto bytes = plan_.bytes[operand];
    const std::vector<std::byte> poison(std::min<std::uint64_t>(bytes, std::uint64_t{1} << 20),
                                        kPoison);
    for (std::uint64_t done = 0; done < bytes; done += poison.size()) {
        device_.copy_in(at(operand, 0) + done, poison.data(),
                        std::min<std::uint64_t>(poison.size(), bytes - done));
    }
}

}  // namespace assay::probes
