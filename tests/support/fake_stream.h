// Streams, events and graphs of the fake device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "support/fake_device.h"

namespace assay::device {

class FakeStream;

class FakeEvent final : public Event {
  public:
    explicit FakeEvent(FakeDevice& device) : device_(device) {}
    double seconds_since(Event& start) override;

    double time() const;  // s; throws std::logic_error when never recorded
    void set(double time, const FakeStream& stream);

  private:
    FakeDevice& device_;
    std::optional<double> time_;
    const FakeStream* stream_ = nullptr;
};

class FakeStream final : public Stream {
  public:
    explicit FakeStream(FakeDevice& device) : device_(device) {}

    void record(Event& event) override;
    void wait(Event& event) override;
    void hold() override { held_ = true; }
    void release() override { held_ = false; }
    std::unique_ptr<Graph> capture(const std::function<void()>& work) override;
    void synchronize() override;

    // Queues a call, or records it while capturing.
    void call(std::function<void()> work, double slowdown = 1);
    // Takes `seconds` of the stream, and is no call; `at` is told when it starts.
    void pass(double seconds, std::function<void(double start)> at);
    bool held() const { return held_; }

  private:
    using Action = std::function<void(FakeStream&)>;
    friend class FakeGraph;
    void act(Action action);

    FakeDevice& device_;
    double end_ = 0;  // s, when all that was queued here is done
    bool held_ = false;
    std::vector<Action>* captured_ = nullptr;
};

}  // namespace assay::device
