#include "support/fake_stream.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assay::device {

class FakeGraph final : public Graph {
  public:
    explicit FakeGraph(std::vector<FakeStream::Action> actions) : actions_(std::move(actions)) {}
    void launch(Stream& stream) override {
        for (const auto& action : actions_) dynamic_cast<FakeStream&>(stream).act(action);
    }

  private:
    std::vector<FakeStream::Action> actions_;
};

double FakeEvent::seconds_since(Event& start) {
    const double begin = dynamic_cast<FakeEvent&>(start).time();
    const double end = time();
    if (stream_->held()) throw std::logic_error("waits for an event of a stream that is held");
    device_.wait_until(end);
    return end - begin;
}

double FakeEvent::time() const {
    if (!time_) throw std::logic_error("asks an event that was never recorded");
    return *time_;
}

void FakeEvent::set(double time, const FakeStream& stream) {
    time_ = time;
    stream_ = &stream;
}

void FakeStream::act(Action action) {
    if (captured_ != nullptr) {
        captured_->push_back(std::move(action));
    } else {
        action(*this);
    }
}

void FakeStream::call(std::function<void()> work, double slowdown) {
    act([slowdown, work = std::move(work)](FakeStream& stream) {
        const double start = std::max(stream.end_, stream.device_.now());
        stream.end_ = stream.device_.queue_call(start, work, slowdown);
    });
}

void FakeStream::pass(double seconds, std::function<void(double start)> at) {
    act([seconds, at = std::move(at)](FakeStream& stream) {
        const double start = std::max(stream.end_, stream.device_.now());
        at(start);
        stream.end_ = start + seconds;
    });
}

void FakeStream::record(Event& event) {
    act([&event](FakeStream& stream) {
        const double time = std::max(stream.end_, stream.device_.now());
        dynamic_cast<FakeEvent&>(event).set(time, stream);
        stream.end_ = std::max(stream.end_, time + stream.device_.script.event_s);
    });
}

void FakeStream::wait(Event& event) {
    act([&event](FakeStream& stream) {
        stream.end_ = std::max(stream.end_, dynamic_cast<FakeEvent&>(event).time());
    });
}

std::unique_ptr<Graph> FakeStream::capture(const std::function<void()>& work) {
    std::vector<Action> actions;
    captured_ = &actions;
    try {
        work();
    } catch (...) {
        captured_ = nullptr;
        throw;
    }
    captured_ = nullptr;
    return std::make_unique<FakeGraph>(std::move(actions));
}

void FakeStream::synchronize() {
    if (held_) throw std::logic_error("synchronizes a stream that is held");
    if (captured_ != nullptr) throw std::logic_error("synchronizes a stream while capturing it");
    device_.wait_until(end_);
}

}  // namespace assay::device
