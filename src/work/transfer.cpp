#include "work/transfer.h"

#include <algorithm>
#include <array>

#include "work/named_rows.h"

namespace assay::work {
namespace {

struct TransferRow {
    Transfer transfer;
    std::string_view name;
    int moved;
};
struct HostMemoryRow {
    HostMemory memory;
    std::string_view name;
};

// Both in the order of their enumerations.
constexpr std::array<TransferRow, 4> kTransfers{
    {{Transfer::device_to_device, "device_to_device", 2},
     {Transfer::host_to_device, "host_to_device", 1},
     {Transfer::device_to_host, "device_to_host", 1},
     {Transfer::both_ways, "both_ways", 2}}};
constexpr std::array<HostMemoryRow, 2> kHostMemories{
    {{HostMemory::pinned, "pinned"}, {HostMemory::pageable, "pageable"}}};

}  // namespace

std::string_view name(Transfer transfer) {
    return kTransfers[static_cast<std::size_t>(transfer)].name;
}

std::optional<Transfer> find_transfer(std::string_view word) {
    const auto* row = std::ranges::find(kTransfers, word, &TransferRow::name);
    return row == kTransfers.end() ? std::nullopt : std::optional(row->transfer);
}

std::vector<Transfer> all_transfers() {
    std::vector<Transfer> all;
    for (const auto& each : kTransfers) all.push_back(each.transfer);
    return all;
}

std::string_view name(HostMemory memory) {
    return kHostMemories[static_cast<std::size_t>(memory)].name;
}

HostMemory parse_host_memory(std::string_view word) {
    return row_named("host memory", word, kHostMemories).memory;
}

bool uses_host(Transfer transfer) {
    return transfer != Transfer::device_to_device;
}

int moved(Transfer transfer) {
    return kTransfers[static_cast<std::size_t>(transfer)].moved;
}

}  // namespace assay::work
