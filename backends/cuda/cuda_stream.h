// CUDA's streams, events and graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <cuda_runtime.h>

#include "device/device.h"

namespace assay::cuda {

class CudaEvent : public device::Event {
  public:
    CudaEvent();
    ~CudaEvent() override;
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;

    double seconds_since(device::Event& start) override;
    cudaEvent_t handle() const { return event_; }
    static CudaEvent& of(device::Event& event) { return dynamic_cast<CudaEvent&>(event); }

  private:
    cudaEvent_t event_ = nullptr;
};

class CudaGraph : public device::Graph {
  public:
    explicit CudaGraph(cudaGraphExec_t graph) : graph_(graph) {}
    ~CudaGraph() override;
    CudaGraph(const CudaGraph&) = delete;
    CudaGraph& operator=(const CudaGraph&) = delete;

    void launch(device::Stream& stream) override;

  private:
    cudaGraphExec_t graph_;
};

class CudaStream : public device::Stream {
  public:
    CudaStream();
    ~CudaStream() override;
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;

    void record(device::Event& event) override;
    void wait(device::Event& event) override;
    // Several holds may be queued; each release lets the oldest go.
    void hold() override;
    void release() override;
    std::unique_ptr<device::Graph> capture(const std::function<void()>& work) override;
    void synchronize() override;

    cudaStream_t handle() const { return stream_; }
    static cudaStream_t of(device::Stream& stream) {
        return dynamic_cast<CudaStream&>(stream).stream_;
    }

  private:
    cudaStream_t stream_ = nullptr;
    std::uint64_t* released_ = nullptr;  // holds let go so far, in memory that both sides see
    std::uint64_t held_ = 0;             // holds queued so far
};

}  // namespace assay::cuda
