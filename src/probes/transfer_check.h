// Does a transfer move what it says? Checked before it is timed, and what the timed copies left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "ops/transfer.h"
#include "record/result.h"

namespace assay::probes {

class TransferCheck {
  public:
    // Fills the sources of `transfer` with a counter, another one for each, and the destinations
    // with what a source has at no place; both whole, so that every page is there. Each end holds
    // `bytes`. Nothing of the transfer may run meanwhile. Both must outlive it.
    TransferCheck(device::Device& device, ops::PreparedTransfer& transfer, std::uint64_t bytes,
                  std::uint64_t seed);

    // Destinations again hold what their sources don't, at the places that are compared.
    void poison();
    // Whether those places, both ends among them, hold the source's words. After synchronizing.
    record::Check compare(std::string name) const;

  private:
    device::Device& device_;
    std::vector<ops::TransferEnds> ends_;
    std::uint64_t words_;
    std::uint32_t salt_;
};

}  // namespace assay::probes
