#include "probes/memory_arrays.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "probes/memory_check.h"

namespace assay::probes {

namespace {

constexpr std::uint64_t kSliceAlignment = 4096;
constexpr const char* kSliceBytes = "slice_bytes";
constexpr const char* kPasses = "passes";

// A kernel whose arrays stay in a cache must write through it; one that goes to memory is faster
// past it, since the cache would first read each line that is about to be overwritten.
bool stays_in_cache(std::uint64_t footprint, const record::DeviceFacts& facts) {
    return footprint <= facts.last_level_cache_bytes / 2;
}

std::uint64_t arrays_used(work::MemoryOp op) {
    return static_cast<std::uint64_t>(work::arrays_read(op) + work::arrays_written(op));
}

// By division, since the footprint itself may overflow.
void require_room(device::Device& device, std::uint64_t size, std::uint64_t arrays) {
    const std::uint64_t free = device.memory().free;
    if (size <= free / arrays) return;
    const double needed = static_cast<double>(size) * static_cast<double>(arrays);
    throw Unsupported(fmt::format("{} arrays of {} need {}, and {} of {} are free", arrays,
                                  size_label(size), format_bytes(needed),
                                  format_bytes(static_cast<double>(free)), device.facts().id),
                      "choose a smaller --size");
}

std::uint64_t recorded(const record::Result& result, const char* setting) {
    const auto found = result.conditions.settings.find(setting);
    if (found == result.conditions.settings.end()) {
        throw Error(result.identity() + " doesn't say its " + setting);
    }
    return static_cast<std::uint64_t>(parse_integer(found->second, setting));
}

}  // namespace

Slicing slicing(std::uint64_t array_bytes, const ops::Memory& memory) {
    const std::uint64_t largest = memory.largest_slice();
    Slicing slicing;
    slicing.count = std::max<std::uint64_t>(1, array_bytes / largest + (array_bytes % largest > 0));
    slicing.bytes = array_bytes;
    if (slicing.count > 1) {
        slicing.bytes = array_bytes / slicing.count / kSliceAlignment * kSliceAlignment;
    }
    slicing.passes =
        static_cast<int>(std::max<std::uint64_t>(1, memory.least_bytes() / array_bytes));
    return slicing;
}

Nodes parse_nodes(const std::string& text) {
    if (text == "local") return {};
    const auto arrow = text.find("->");
    if (arrow == text.npos) throw Error("nodes \"" + text + "\" aren't local or FROM->TO");
    return {static_cast<int>(parse_integer(text.substr(0, arrow), "node")),
            static_cast<int>(parse_integer(text.substr(arrow + 2), "node"))};
}

MemoryArrays::MemoryArrays(device::Device& device, const record::Case& what) {
    const auto op = work::parse_memory_op(what.at("op"));
    const std::uint64_t size = what.size("size");
    const auto nodes = parse_nodes(what.at("nodes"));
    require_room(device, size, arrays_used(op));

    slicing_ = slicing(size, device.need<ops::Memory>());
    footprint_bytes_ = size * arrays_used(op);
    request_.op = op;
    request_.bytes_per_array = slicing_.bytes;
    request_.in_cache = stays_in_cache(footprint_bytes_, device.facts());
    request_.node = nodes.cores;
    request_.passes = slicing_.passes;
    if (work::arrays_read(op) > 0) a_ = device.allocate(size, nodes.memory);
    if (work::arrays_read(op) > 1) b_ = device.allocate(size, nodes.memory);
    if (work::arrays_written(op) > 0) c_ = device.allocate(size, nodes.memory);
}

ops::MemoryOperands MemoryArrays::operands(std::size_t call) const {
    const std::uint64_t offset = call % slicing_.count * slicing_.bytes;
    const auto at = [offset](const std::unique_ptr<device::Buffer>& array) {
        return array ? static_cast<std::byte*>(array->data()) + offset : nullptr;
    };
    return {at(a_), at(b_), at(c_)};
}

record::Check MemoryArrays::check(device::Device& device, ops::PreparedMemory& kernel,
                                  std::uint64_t seed) const {
    record::Check first;
    for (std::uint64_t i = 0; i < slicing_.count; ++i) {
        auto check = check_memory(device, kernel, request_, operands(i), seed + i);
        if (!check.passed) return check;
        if (i == 0) first = std::move(check);
    }
    return first;
}

void MemoryArrays::poison(device::Device& device) const {
    poison_memory(device, request_, operands(0));
}

record::Check MemoryArrays::compare(device::Device& device, std::uint64_t seed,
                                    std::string name) const {
    auto check = compare_memory(device, request_, operands(0), seed);
    check.name = std::move(name);
    return check;
}

record::Check MemoryArrays::check_again(device::Device& device, ops::PreparedMemory& kernel,
                                        std::uint64_t seed, std::string name) const {
    auto check = check_memory_again(device, kernel, request_, operands(0), seed);
    check.name = std::move(name);
    return check;
}

void MemoryArrays::describe(record::Result& result) const {
    auto& settings = result.conditions.settings;
    settings["stores"] = request_.in_cache ? "through the caches" : "past the caches";
    settings[kSliceBytes] = std::to_string(slicing_.bytes);
    settings[kPasses] = std::to_string(slicing_.passes);
}

CountedBytes counted_bytes(const record::Result& result) {
    const auto op = work::parse_memory_op(result.what.at("op"));
    const auto slice = recorded(result, kSliceBytes);
    const auto passes = recorded(result, kPasses);
    return {static_cast<double>(work::counted_bytes(op, slice)) * static_cast<double>(passes),
            fmt::format("({} arrays read + {} written) x {} bytes x {} passes",
                        work::arrays_read(op), work::arrays_written(op), slice, passes)};
}

}  // namespace assay::probes
