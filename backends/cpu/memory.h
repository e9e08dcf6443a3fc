// Facility "memory": the kernels shared out over the team.
#pragma once

#include <memory>

#include "cpu/thread_team.h"
#include "ops/memory.h"

namespace assay::cpu {

class CpuMemory : public ops::Memory {
  public:
    explicit CpuMemory(ThreadTeam& team) : team_(team) {}
    std::unique_ptr<ops::PreparedMemory> prepare(const ops::MemoryRequest& request) override;

  private:
    ThreadTeam& team_;
};

}  // namespace assay::cpu
