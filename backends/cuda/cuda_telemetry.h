// Clock, power, energy and temperature of a GPU.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cuda/nvml.h"
#include "device/telemetry.h"

namespace assay::cuda {

// NVML takes milliseconds to answer, in which the device would wait for its next work, and so
// cool: a thread asks it every 20 ms from the first read() on, and read() returns the last answer.
class CudaTelemetry : public device::Telemetry {
  public:
    // Of the device with that id and bus id (NvmlDevice). Without NVML there is none, and the
    // sources say why.
    CudaTelemetry(const std::string& uuid, const std::string& bus_id);
    ~CudaTelemetry() override;

    device::Reading read() override;
    std::vector<std::string> throttle_reasons() override;
    std::string clock_source() const override;
    std::string power_source() const override;
    std::map<std::string, std::string> settings() override;

  private:
    struct Answer {
        device::Reading reading;
        std::vector<std::string> reasons;
    };
    Answer ask() const;
    Answer latest();
    void keep_asking(const std::stop_token& stop);

    std::optional<NvmlDevice> nvml_;
    std::string why_;
    std::mutex mutex_;
    std::condition_variable_any stopped_;
    Answer latest_;
    std::jthread asker_;  // the last member: it uses the others
};

}  // namespace assay::cuda
