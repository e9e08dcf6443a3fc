// Streams, events and graphs of a device that runs every call at once, on the calling thread. That
// thread is pinned to its core from the first call, or the first event, until it synchronizes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/thread_team.h"
#include "device/device.h"

namespace assay::cpu {

class CpuEvent : public device::Event {
  public:
    void reach();
    // Throws Error when either event was never reached: nothing is left that could reach it.
    double seconds_since(device::Event& start) override;

  private:
    std::optional<double> time_;  // base/time.h's monotonic clock
};

class CpuStream : public device::Stream {
  public:
    using Call = std::function<void()>;

    explicit CpuStream(ThreadTeam& team) : team_(team) {}
    ~CpuStream() override { team_.unpin(); }
    CpuStream(const CpuStream&) = delete;
    CpuStream& operator=(const CpuStream&) = delete;

    // The stream behind an op's argument. Throws Error when it is another device's.
    static CpuStream& of(device::Stream& stream);

    // Runs `call` now, or records it while a capture is going on.
    template <class F>
    void enqueue(F&& call) {
        if (captured_ != nullptr) {
            captured_->emplace_back(std::forward<F>(call));
        } else {
            team_.pin();
            call();
        }
    }

    void record(device::Event& event) override;
    void wait(device::Event& /*event*/) override {}  // whatever was queued has run
    void hold() override {}
    void release() override {}
    // Throws Error inside another capture.
    std::unique_ptr<device::Graph> capture(const std::function<void()>& work) override;
    void synchronize() override { team_.unpin(); }  // a call that fails throws from enqueue()

  private:
    ThreadTeam& team_;
    std::vector<Call>* captured_ = nullptr;
};

class CpuGraph : public device::Graph {
  public:
    explicit CpuGraph(std::vector<CpuStream::Call> calls)
        : calls_(std::make_shared<const std::vector<CpuStream::Call>>(std::move(calls))) {}
    void launch(device::Stream& stream) override;

  private:
    // Shared with a graph that this one's launch was recorded into.
    std::shared_ptr<const std::vector<CpuStream::Call>> calls_;
};

}  // namespace assay::cpu
