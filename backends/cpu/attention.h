// Facility "attention": tiles of scores that stay in the caches, shared out over the team.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cpu/thread_team.h"
#include "cpu/topology.h"
#include "ops/attention.h"

namespace assay::cpu {

class CpuAttention : public ops::Attention {
  public:
    CpuAttention(const Topology& topology, ThreadTeam& team) : topology_(topology), team_(team) {}
    std::vector<std::string> providers() const override;
    // fp32, bf16 and fp16, computed in fp32; every mask, modifier, size and stride.
    std::unique_ptr<ops::PreparedAttention> prepare(const work::Attention& problem,
                                                    work::AttentionPass pass,
                                                    const std::string& provider) override;

  private:
    const Topology& topology_;
    ThreadTeam& team_;
};

}  // namespace assay::cpu
