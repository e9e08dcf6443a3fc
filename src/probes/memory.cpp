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
#include "probes/cache_clearer.h"
#include "probes/memory_arrays.h"
#include "probes/memory_kernels.h"
#include "probes/memory_transfer.h"
#include "probes/sampled.h"
#include "record/host.h"
#include "work/transfer.h"

namespace assay::probes {

namespace {

constexpr std::uint64_t kElement = sizeof(float);
constexpr const char* kByDevice = "auto";
constexpr const char* kAllKernels = "all";
constexpr const char* kPinned = "pinned";  // as work::name() has it

using Words = std::vector<std::string>;

// Kernels and transfers of --op, each in the order asked for.
struct Ops {
    std::vector<work::MemoryOp> kernels;
    std::vector<work::Transfer> transfers;
};

Ops parse_ops(const std::string& text) {
    Words known;
    for (const auto op : work::all_memory_ops()) known.emplace_back(work::name(op));
    const auto kernels = known.size();
    for (const auto transfer : work::all_transfers()) known.emplace_back(work::name(transfer));
    Ops ops;
    for (const auto& word : parse_words(text, "--op")) {
        const auto found = std::ranges::find(known, word);
        if (found == known.end()) throw_unknown("memory operation", word, known);
        if (static_cast<std::size_t>(found - known.begin()) < kernels) {
            ops.kernels.push_back(work::parse_memory_op(word));
        } else {
            ops.transfers.push_back(*work::find_transfer(word));
        }
    }
    return ops;
}

// Through the caches to memory. A CPU's first-level cache is a core's, an accelerator's
// second-level cache is the first that all of it shares.
std::vector<std::uint64_t> ladder(const record::DeviceFacts& facts) {
    constexpr std::uint64_t kKi = 1024, kMi = kKi * kKi, kGi = kKi * kMi;
    if (!is_accelerator(facts)) return {32 * kKi, 512 * kKi, 8 * kMi, kGi};
    // The largest has room for three arrays and as much again.
    std::uint64_t largest = 8 * kGi;
    while (facts.memory_bytes > 0 && largest > kMi && largest > facts.memory_bytes / 4) {
        largest /= 2;
    }
    std::vector<std::uint64_t> sizes;
    for (const auto size : {kMi, 16 * kMi, 256 * kMi, largest}) {
        if (size <= largest && (sizes.empty() || size > sizes.back())) sizes.push_back(size);
    }
    return sizes;
}

// A link is no faster with more, and a host pins memory page by page.
constexpr std::uint64_t kLargestByLink = std::uint64_t{256} << 20;

std::vector<std::uint64_t> sizes_of(const Options& options, const record::DeviceFacts& facts) {
    const auto& text = options.at("size");
    if (text == kByDevice) return ladder(facts);
    auto sizes = parse_sizes(text);
    for (const auto size : sizes) {
        if (size > 0 && size % kElement == 0) continue;
        throw UsageError(
            fmt::format("--size {} is no positive multiple of {} bytes", size, kElement),
            "choose whole fp32 elements");
    }
    return sizes;
}

bool every_node(const Options& options) {
    const auto& numa = options.at("numa");
    if (numa == "local") return false;
    if (numa == "all") return true;
    static const std::array<std::string, 2> known{"local", "all"};
    throw_unknown("numa choice", numa, known);
}

// Cores of each node against memory of each.
Words node_pairs(const record::DeviceFacts& facts) {
    Words pairs;
    for (const auto& from : facts.nodes) {
        if (from.cores == 0) continue;  // memory only
        for (const auto& to : facts.nodes) {
            pairs.push_back(fmt::format("{}->{}", from.index, to.index));
        }
    }
    if (pairs.empty()) pairs.emplace_back("local");
    return pairs;
}

// Nodes of the host's memory: an accelerator doesn't know them.
Words host_nodes(const record::DeviceFacts& facts) {
    Words nodes;
    for (const auto& node : facts.nodes) {
        if (node.memory_bytes > 0) nodes.push_back(std::to_string(node.index));
    }
    if (nodes.empty()) {
        for (const int node : record::memory_nodes("/")) nodes.push_back(std::to_string(node));
    }
    if (nodes.empty()) nodes.emplace_back("local");
    return nodes;
}

void expand_kernels(const std::vector<work::MemoryOp>& ops, const Options& options,
                    const record::DeviceFacts& facts, std::vector<record::Case>& cases) {
    const auto& asked = options.at("kernel");
    const auto kernels = asked.empty() ? Words{""} : parse_words(asked, "--kernel");
    const auto sizes = sizes_of(options, facts);
    for (const auto& nodes : every_node(options) ? node_pairs(facts) : Words{"local"}) {
        for (const auto op : ops) {
            for (const auto& kernel : kernels) {
                for (const auto size : sizes) {
                    record::Case what;
                    what.set("op", std::string(work::name(op)));
                    what.set("size", size_label(size));
                    what.set("nodes", nodes, "local");
                    what.set("kernel", kernel, "");
                    cases.push_back(std::move(what));
                }
            }
        }
    }
}

void expand_transfers(const std::vector<work::Transfer>& transfers, const Options& options,
                      const record::DeviceFacts& facts, std::vector<record::Case>& cases) {
    std::vector<work::HostMemory> memories;
    for (const auto& word : parse_words(options.at("host-memory"), "--host-memory")) {
        memories.push_back(work::parse_host_memory(word));
    }
    const auto nodes = every_node(options) ? host_nodes(facts) : Words{"local"};
    const auto sizes = sizes_of(options, facts);
    const auto add = [&](work::Transfer transfer, const std::string& node,
                         std::optional<work::HostMemory> memory) {
        for (const auto size : sizes) {
            if (memory && options.at("size") == kByDevice && size > kLargestByLink) continue;
            record::Case what;
            what.set("op", std::string(work::name(transfer)));
            what.set("size", size_label(size));
            what.set("nodes", node, "local");
            if (memory) what.set("host_memory", std::string(work::name(*memory)), kPinned);
            cases.push_back(std::move(what));
        }
    };
    for (const auto transfer : transfers) {
        if (!work::uses_host(transfer)) {
            add(transfer, "local", std::nullopt);
            continue;
        }
        for (const auto& node : nodes) {
            for (const auto memory : memories) add(transfer, node, memory);
        }
    }
}

std::string kernel_of(const record::Case& what) {
    return what.has("kernel") ? what.at("kernel") : "";
}

bool is_transfer(const record::Case& what) {
    return work::find_transfer(what.at("op")).has_value();
}

void require_kernel(device::Device& device, work::MemoryOp op, const std::string& kernel) {
    const auto known = device.need<ops::Memory>().kernels(op);
    if (kernel.empty() || std::ranges::find(known, kernel) != known.end()) return;
    throw Unsupported(
        fmt::format("{} has no kernel \"{}\" for {}", device.facts().id, kernel, work::name(op)),
        known.empty() ? "it has one way to do it: leave --kernel out"
                      : "it has " + join(known, ", "));
}

void measure_kernel(const record::Case& what, Bench& bench, record::Result& result) {
    auto& device = bench.device;
    const auto kernel_name = kernel_of(what);
    require_kernel(device, work::parse_memory_op(what.at("op")), kernel_name);
    const MemoryArrays arrays(device, what);
    arrays.describe(result);
    auto request = arrays.request();
    request.kernel = kernel_name;
    const auto kernel = device.need<ops::Memory>().prepare(request);
    describe(kernel->implementation(), bench, result);

    result.checks = {arrays.check(device, *kernel, bench.seed)};
    if (!result.checks.back().passed) return;  // a wrong answer has no speed
    measure::StreamSubject subject(
        "memory", device,
        [&](device::Stream& stream, std::size_t call) {
            kernel->enqueue(stream, arrays.operands(call));
        },
        clearing(bench, result));
    arrays.poison(device);
    sample_into(subject, bench, arrays.footprint_bytes(), 1, result);
    if (arrays.has_target()) {
        result.checks.push_back(arrays.compare(device, bench.seed, "answer under load"));
    }
    result.checks.push_back(arrays.check_again(device, *kernel, bench.seed, "answer after load"));
}

}  // namespace

std::string MemoryProbe::summary() const {
    return "memory bandwidth by size: copy, read, write, scale, add, triad; host to device and "
           "back";
}

std::vector<std::string> MemoryProbe::examples() const {
    return {"assay memory --size 64K..8G*2 --op copy,triad",
            "assay memory --size 1G --op read --numa all",
            "assay memory --op host_to_device,both_ways --size 256M --host-memory pinned,pageable"};
}

std::vector<OptionSpec> MemoryProbe::options() const {
    return {
        {"op", "copy,read,write,scale,add,triad", "OP,...",
         "kernels on arrays of fp32; and host_to_device, device_to_host, both_ways, "
         "device_to_device"},
        {"size", kByDevice, "SIZE,...",
         "bytes of each array; ranges as 64K..8G*2; auto: 32K,512K,8M,1G on a CPU, "
         "1M,16M,256M,8G or what fits on an accelerator"},
        {"numa", "local", "local|all",
         "all: cores of each node against memory of each; transfers: each node's host memory"},
        {"kernel", "", "NAME,...|all",
         "which of the device's ways to do an op; all: each, interleaved round by round"},
        {"host-memory", kPinned, "pinned,pageable", "the host's end of a transfer"},
    };
}

std::vector<record::Case> MemoryProbe::expand(const Options& options,
                                              const record::DeviceFacts& facts) const {
    const auto ops = parse_ops(options.at("op"));
    if (ops.kernels.empty() && !options.at("kernel").empty()) {
        throw UsageError(
            "--kernel chooses among kernels, and --op " + options.at("op") + " has none",
            "name copy, read, write, scale, add or triad");
    }
    if (ops.transfers.empty() && options.at("host-memory") != kPinned) {
        throw UsageError(
            "--host-memory is an end of a transfer, and --op " + options.at("op") + " has none",
            "name host_to_device, device_to_host or both_ways");
    }
    std::vector<record::Case> cases;
    expand_kernels(ops.kernels, options, facts, cases);
    expand_transfers(ops.transfers, options, facts, cases);
    return cases;
}

bool MemoryProbe::has_own_method(const record::Case& what) const {
    return kernel_of(what) == kAllKernels;
}

void MemoryProbe::run(const record::Case& what, Bench& bench, record::Result& result) const {
    if (is_transfer(what)) {
        measure_transfer(what, bench, result);
    } else if (has_own_method(what)) {
        measure_kernels(what, bench, result);
    } else {
        measure_kernel(what, bench, result);
    }
}

std::vector<record::Metric> MemoryProbe::metrics(const record::Result& result) const {
    if (is_transfer(result.what)) return transfer_metrics(result);
    if (has_own_method(result.what)) return kernel_metrics(result);
    const auto counted = counted_bytes(result);
    return {measure::rate_metric(
                "bandwidth", "GB/s",
                counted.text +
                    " / median time of one call, 1e9 per second; lines that a cache reads before "
                    "they are written to aren't counted",
                counted.bytes / 1e9, result.launches),
            measure::time_metric("time", "device time of one call", result.launches)};
}

}  // namespace assay::probes
