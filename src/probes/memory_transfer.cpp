#include "probes/memory_transfer.h"

#include <fmt/format.h>

#include "base/units.h"
#include "measure/stream_subject.h"
#include "measure/summary.h"
#include "ops/transfer.h"
#include "probes/cache_clearer.h"
#include "probes/sampled.h"
#include "probes/transfer_check.h"

namespace assay::probes {

namespace {

work::Transfer transfer_of(const record::Case& what) {
    const auto transfer = work::find_transfer(what.at("op"));
    if (!transfer) throw Error("\"" + what.at("op") + "\" is no transfer");
    return *transfer;
}

ops::TransferRequest request_of(const record::Case& what) {
    ops::TransferRequest request;
    request.what = transfer_of(what);
    request.bytes = what.size("size");
    if (what.has("host_memory")) request.host = work::parse_host_memory(what.at("host_memory"));
    const auto& nodes = what.at("nodes");
    if (nodes != "local") request.node = static_cast<int>(parse_integer(nodes, "node"));
    return request;
}

const char* what_moves(work::Transfer transfer) {
    switch (transfer) {
        case work::Transfer::device_to_device:
            return "bytes read + bytes written";
        case work::Transfer::both_ways:
            return "bytes to the device + bytes to the host, at once";
        case work::Transfer::host_to_device:
        case work::Transfer::device_to_host:
            break;
    }
    return "bytes copied";
}

}  // namespace

void measure_transfer(const record::Case& what, Bench& bench, record::Result& result) {
    const auto request = request_of(what);
    auto& device = bench.device;
    const auto transfer = device.need<ops::Transfer>().prepare(request);
    describe(transfer->implementation(), bench, result);

    TransferCheck check(device, *transfer, request.bytes, bench.seed);
    const auto stream = device.create_stream();
    transfer->enqueue(*stream);
    stream->synchronize();
    result.checks.push_back(check.compare("answer"));
    if (!result.checks.back().passed) return;  // a wrong answer has no speed

    check.poison();
    measure::StreamSubject subject(
        "transfer", device, [&](device::Stream& s, std::size_t /*call*/) { transfer->enqueue(s); },
        clearing(bench, result),
        transfer->waits() ? measure::Launching::free : measure::Launching::held);
    // Each copy has a source and a destination.
    const std::uint64_t footprint = request.bytes * 2 * transfer->ends().size();
    sample_into(subject, bench, footprint, 1, result);
    result.checks.push_back(check.compare("answer under load"));
}

std::vector<record::Metric> transfer_metrics(const record::Result& result) {
    const auto transfer = transfer_of(result.what);
    const auto bytes = result.what.size("size");
    return {measure::rate_metric(
                "bandwidth", "GB/s",
                fmt::format("({}) = {} x {} bytes / median time of one call, 1e9 per second",
                            what_moves(transfer), work::moved(transfer), bytes),
                work::moved(transfer) * static_cast<double>(bytes) / 1e9, result.launches),
            measure::time_metric("time", "device time of one call", result.launches)};
}

}  // namespace assay::probes
