// Facility "fill": work::fill shared out over the team.
#pragma once

#include "cpu/thread_team.h"
#include "ops/fill.h"

namespace assay::cpu {

class CpuFill : public ops::Fill {
  public:
    explicit CpuFill(ThreadTeam& team) : team_(team) {}
    void enqueue(device::Stream& stream, const work::FillSpec& spec, work::Type type,
                 std::uint64_t count, void* out) override;

  private:
    ThreadTeam& team_;
};

}  // namespace assay::cpu
