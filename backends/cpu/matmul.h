// Facility "matmul": products by oneDNN.
#pragma once

#include <memory>

#include "cpu/thread_team.h"
#include "cpu/topology.h"
#include "ops/matmul.h"

namespace assay::cpu {

class CpuMatmul : public ops::Matmul {
  public:
    CpuMatmul(const Topology& topology, ThreadTeam& team) : topology_(topology), team_(team) {}
    // fp32 to fp32, bf16 to fp32 or bf16, int8 to int32.
    std::unique_ptr<ops::PreparedMatmul> prepare(const work::Matmul& problem,
                                                 const ops::MatmulChoice& choice) override;

  private:
    const Topology& topology_;
    ThreadTeam& team_;
};

// The implementation of oneDNN's to ask for, "" for its own choice.
std::string_view preferred_implementation(const work::Matmul& problem);

}  // namespace assay::cpu
