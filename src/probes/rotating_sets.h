// Operands that lie in memory as many times over as a cold run must rotate over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "probes/matmul_problem.h"
#include "work/fill.h"

namespace assay::probes {

// What every byte of a result is before it is computed, as nothing computes it: 0x7f7f... is 3.4e38
// in fp32 and bf16, 127 in int8. So a kernel that writes nothing is found.
inline constexpr std::byte kPoison{0x7f};

struct SetPlan {
    std::vector<std::uint64_t> bytes;  // of each operand in one set; 0: there is none
    int sets = 1;
    std::string note;  // "" or why fewer sets than a cold run wants had to do

    std::uint64_t set_bytes() const;
    std::uint64_t bytes_of_all(std::size_t operand) const {
        return bytes[operand] * static_cast<std::uint64_t>(sets);
    }
};

// What is said where one set has no room.
struct NoRoom {
    const char* operands;  // "operands", "tensors"
    const char* hint;
};

// Cold: sets whose footprint is at least twice the last-level cache, two at least, but no more than
// half of `free` allows. Hot: one set. Throws Unsupported naming the bytes needed and free.
SetPlan plan_sets(const device::Device& device, std::vector<std::uint64_t> bytes, CacheState cache,
                  std::uint64_t free, const NoRoom& no_room);

class RotatingSets {
  public:
    using Memory = std::shared_ptr<device::Buffer>;

    RotatingSets(device::Device& device, SetPlan plan);
    // In memory that others use in their turn, an operand after the other; where there is none for
    // an operand, it gets its own.
    RotatingSets(device::Device& device, SetPlan plan, std::vector<Memory> memory);

    // Null for an operand that there is none of; index modulo sets().
    std::byte* at(std::size_t operand, std::size_t index) const;
    std::uint64_t bytes(std::size_t operand) const { return plan_.bytes[operand]; }
    int sets() const { return plan_.sets; }
    std::uint64_t footprint_bytes() const {
        return plan_.set_bytes() * static_cast<std::uint64_t>(plan_.sets);
    }
    const std::string& note() const { return plan_.note; }
    const std::vector<Memory>& memory() const { return memory_; }  // null where there is none

    // One counter runs through all sets of an operand, so that sets differ.
    void fill(device::Stream& stream, std::size_t operand, const work::FillSpec& spec,
              work::Type type) const;
    void poison(std::size_t operand) const;  // of set 0, the one that is checked

  private:
    device::Device& device_;
    SetPlan plan_;
    std::vector<Memory> memory_;
};

}  // namespace assay::probes
