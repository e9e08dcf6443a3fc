// The processor as a device.
#pragma once

#include <memory>

#include "cpu/attention.h"
#include "cpu/cpu_telemetry.h"
#include "cpu/fill.h"
#include "cpu/matmul.h"
#include "cpu/memory.h"
#include "cpu/thread_team.h"
#include "cpu/topology.h"
#include "device/device.h"

namespace assay::cpu {

// One thread at a time may use it.
class CpuDevice : public device::Device {
  public:
    CpuDevice();

    const record::DeviceFacts& facts() const override { return facts_; }
    device::MemoryState memory() const override;
    std::unique_ptr<device::Buffer> allocate(std::size_t bytes, int node) override;
    std::unique_ptr<device::Stream> create_stream() override;
    std::unique_ptr<device::Event> create_event() override;
    device::Telemetry& telemetry() override { return telemetry_; }
    void copy_in(void* to, const void* from_host, std::size_t bytes) override;
    void copy_out(void* to_host, const void* from, std::size_t bytes) override;
    device::Facility* facility(std::string_view name) override;

  private:
    Topology topology_;
    std::vector<Core> cores_;
    record::DeviceFacts facts_;
    CpuTelemetry telemetry_;  // before the team: it counts the threads started after it
    ThreadTeam team_;
    CpuFill fill_{team_};
    CpuMemory memory_{team_};
    CpuMatmul matmul_{topology_, team_};
    CpuAttention attention_{topology_, team_};
};

}  // namespace assay::cpu
