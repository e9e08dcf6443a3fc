#include "probes/memory.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/range.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/stream_subject.h"
#include "measure/summary.h"
#include "ops/memory.h"
#include "probes/cache_clearer.h"
#include "probes/memory_check.h"
#include "probes/sampled.h"

namespace assay::probes {

namespace {

constexpr std::uint64_t kElement = sizeof(float);

// Where the cores and the memory are: "local", or "0->1" for cores of node 0 and memory of node 1.
struct Nodes {
    int cores = device::kAnyNode;
    int memory = device::kAnyNode;
};

Nodes parse_nodes(const std::string& text) {
    if (text == "local") return {};
    const auto arrow = text.find("->");
    if (arrow == text.npos) throw Error("nodes \"" + text + "\" aren't local or FROM->TO");
    return {static_cast<int>(parse_integer(text.substr(0, arrow), "node")),
            static_cast<int>(parse_integer(text.substr(arrow + 2), "node"))};
}

std::vector<std::string> node_pairs(const std::string& numa, const record::DeviceFacts& facts) {
    if (numa == "local") return {"local"};
    if (numa != "all") {
        static const std::array<std::string, 2> known{"local", "all"};
        throw_unknown("numa choice", numa, known);
    }
    std::vector<std::string> pairs;
    for (const auto& from : facts.nodes) {
        if (from.cores == 0) continue;  // memory only
        for (const auto& to : facts.nodes) {
            pairs.push_back(fmt::format("{}->{}", from.index, to.index));
        }
    }
    if (pairs.empty()) pairs.emplace_back("local");
    return pairs;
}

// A call works on a slice of each array, and calls go through the slices in turn: a pass over
// gigabytes would give a handful of samples where a hundred are wanted. Slices are of equal size.
constexpr std::uint64_t kLargestSlice = std::uint64_t{32} << 20;
constexpr std::uint64_t kSliceAlignment = 4096;

std::uint64_t slice_count(std::uint64_t size) {
    return (size + kLargestSlice - 1) / kLargestSlice;
}

// The whole array where it is one slice; else what is left over at the end is under a page a slice.
std::uint64_t slice_bytes(std::uint64_t size) {
    const std::uint64_t count = slice_count(size);
    return count == 1 ? size : size / count / kSliceAlignment * kSliceAlignment;
}

// A small array is gone over several times in a call: waking the cores takes a microsecond, in
// which a core moves tens of kilobytes.
constexpr std::uint64_t kLeastBytesPerCall = std::uint64_t{8} << 20;

int pass_count(std::uint64_t size) {
    return static_cast<int>(std::max<std::uint64_t>(1, kLeastBytesPerCall / size));
}

// A kernel whose arrays stay in a cache must write through it; one that goes to memory is faster
// past it, since the cache would first read each line that is about to be overwritten.
bool stays_in_cache(std::uint64_t footprint, const record::DeviceFacts& facts) {
    return footprint <= facts.last_level_cache_bytes / 2;
}

}  // namespace

std::string MemoryProbe::summary() const {
    return "memory bandwidth by size: copy, read, write, scale, add, triad";
}

std::vector<std::string> MemoryProbe::examples() const {
    return {"assay memory --size 64K..8G*2 --op copy,triad",
            "assay memory --size 1G --op read --numa all"};
}

std::vector<OptionSpec> MemoryProbe::options() const {
    return {
        {"op", "copy,read,write,scale,add,triad", "OP,...", "kernels on arrays of fp32"},
        {"size", "32K,512K,8M,1G", "SIZE,...", "bytes of each array; ranges as 64K..8G*2"},
        {"numa", "local", "local|all", "all: cores of each node against memory of each node"},
    };
}

std::vector<record::Case> MemoryProbe::expand(const Options& options,
                                              const record::DeviceFacts& facts) const {
    std::vector<record::Case> cases;
    const auto sizes = parse_sizes(options.at("size"));
    for (const auto size : sizes) {
        if (size == 0 || size % kElement != 0) {
            throw UsageError(
                fmt::format("--size {} is no positive multiple of {} bytes", size, kElement),
                "choose whole fp32 elements");
        }
    }
    for (const auto& nodes : node_pairs(options.at("numa"), facts)) {
        for (const auto& word : parse_words(options.at("op"), "--op")) {
            const auto op = work::parse_memory_op(word);
            for (const auto size : sizes) {
                record::Case what;
                what.set("op", std::string(work::name(op)));
                what.set("size", size_label(size));
                what.set("nodes", nodes, "local");
                cases.push_back(std::move(what));
            }
        }
    }
    return cases;
}

void MemoryProbe::run(const record::Case& what, Bench& bench, record::Result& result) const {
    const auto op = work::parse_memory_op(what.at("op"));
    const std::uint64_t size = what.size("size");
    const auto nodes = parse_nodes(what.at("nodes"));
    auto& device = bench.device;

    const auto arrays_used =
        static_cast<std::uint64_t>(work::arrays_read(op) + work::arrays_written(op));
    const std::uint64_t footprint = size * arrays_used;
    // By division, since the footprint itself may overflow.
    if (const std::uint64_t free = device.memory().free; size > free / arrays_used) {
        const double needed = static_cast<double>(size) * static_cast<double>(arrays_used);
        throw Unsupported(fmt::format("{} arrays of {} need {}, and {} of {} are free", arrays_used,
                                      size_label(size), format_bytes(needed),
                                      format_bytes(static_cast<double>(free)), device.facts().id),
                          "choose a smaller --size");
    }
    const std::uint64_t slice = slice_bytes(size);
    const ops::MemoryRequest request{op, slice, stays_in_cache(footprint, device.facts()),
                                     nodes.cores, pass_count(size)};
    const auto kernel = device.need<ops::Memory>().prepare(request);
    describe(kernel->implementation(), result);
    result.conditions.settings["stores"] =
        request.in_cache ? "through the caches" : "past the caches";

    std::unique_ptr<device::Buffer> a, b, c;
    if (work::arrays_read(op) > 0) a = device.allocate(size, nodes.memory);
    if (work::arrays_read(op) > 1) b = device.allocate(size, nodes.memory);
    if (work::arrays_written(op) > 0) c = device.allocate(size, nodes.memory);
    const auto arrays = [&](std::size_t call) {
        const std::uint64_t offset = call % slice_count(size) * slice;
        const auto at = [offset](const std::unique_ptr<device::Buffer>& array) {
            return array ? static_cast<std::byte*>(array->data()) + offset : nullptr;
        };
        return ops::MemoryOperands{at(a), at(b), at(c)};
    };
    for (std::size_t i = 0; i < slice_count(size); ++i) {
        auto check = check_memory(device, *kernel, request, arrays(i), bench.seed + i);
        if (i == 0 || !check.passed) result.checks = {std::move(check)};
        if (!result.checks.back().passed) return;  // a wrong answer has no speed
    }

    std::function<void()> clear;
    if (bench.protocol.clear_between) {
        const auto clearer = std::make_shared<CacheClearer>(device);
        if (auto why = clearer->shortfall(); !why.empty()) {
            result.conditions.settings["cleared"] = std::move(why);
        }
        clear = [clearer] { (*clearer)(); };
    }
    measure::StreamSubject subject(
        "memory", device,
        [&](device::Stream& stream, std::size_t call) { kernel->enqueue(stream, arrays(call)); },
        std::move(clear));
    sample_into(subject, bench, footprint, 1, result);
}

std::vector<record::Metric> MemoryProbe::metrics(const record::Result& result) const {
    const auto op = work::parse_memory_op(result.what.at("op"));
    const std::uint64_t size = result.what.size("size");
    const auto bytes = static_cast<double>(work::counted_bytes(op, slice_bytes(size))) *
                       static_cast<double>(pass_count(size));
    return {measure::rate_metric(
                "bandwidth", "GB/s",
                fmt::format("({} arrays read + {} written) x {} bytes x {} passes / median time of "
                            "one call, 1e9 per second; lines that a cache reads before they are "
                            "written to aren't counted",
                            work::arrays_read(op), work::arrays_written(op), slice_bytes(size),
                            pass_count(size)),
                bytes / 1e9, result.launches),
            measure::time_metric("time", "device time of one call", result.launches)};
}

}  // namespace assay::probes
