// Copies between memories.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace assay::work {

enum class Transfer {
    device_to_device,
    host_to_device,
    device_to_host,
    both_ways,  // host to device and device to host at once
};
enum class HostMemory { pinned, pageable };

std::string_view name(Transfer transfer);
// Nothing where no transfer is called that.
std::optional<Transfer> find_transfer(std::string_view word);
std::vector<Transfer> all_transfers();
std::string_view name(HostMemory memory);
HostMemory parse_host_memory(std::string_view word);  // throws UsageError

bool uses_host(Transfer transfer);

// Bytes that move over the link, or through the memory (read and written), per byte of the
// request: 1 one way, 2 both ways and inside the device.
int moved(Transfer transfer);

}  // namespace assay::work
