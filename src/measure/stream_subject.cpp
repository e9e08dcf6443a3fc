#include "measure/stream_subject.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::measure {
namespace {

// Calls and events queued behind one hold.
constexpr std::size_t kHeldEntries = 128;

// Lets the stream go at the latest when queueing throws: waiting for a held stream never ends.
class Hold {
  public:
    explicit Hold(device::Stream& stream, Launching launching = Launching::held)
        : stream_(stream), held_(launching == Launching::held) {
        if (held_) stream_.hold();
    }
    ~Hold() { release(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    void release() {
        if (std::exchange(held_, false)) stream_.release();
    }

  private:
    device::Stream& stream_;
    bool held_;
};

}  // namespace

StreamSubject::StreamSubject(std::string name, device::Device& device, Enqueue enqueue,
                             std::function<void()> clear, Launching launching)
    : name_(std::move(name)),
      device_(device),
      enqueue_(std::move(enqueue)),
      clear_(std::move(clear)),
      launching_(launching),
      stream_(device.create_stream()),
      resolution_(measure_resolution()) {}

StreamSubject::~StreamSubject() = default;

device::Event& StreamSubject::event(std::size_t index) {
    while (events_.size() <= index) events_.push_back(device_.create_event());
    return *events_[index];
}

void StreamSubject::run(std::span<double> seconds, int calls_per_sample) {
    const std::size_t entries_per_sample = static_cast<std::size_t>(calls_per_sample) + 1;
    const std::size_t group = std::max<std::size_t>(1, kHeldEntries / entries_per_sample);

    // A group has an event before its first sample, besides one after each.
    const auto first_event = [&](std::size_t sample) { return sample + sample / group; };
    if (!seconds.empty()) event(first_event(seconds.size() - 1) + 1);
    for (std::size_t sample = 0; sample < seconds.size(); sample += group) {
        queue_group(first_event(sample), std::min(group, seconds.size() - sample),
                    calls_per_sample);
    }
    stream_->synchronize();

    for (std::size_t sample = 0; sample < seconds.size(); ++sample) {
        const std::size_t start = first_event(sample);
        seconds[sample] = events_[start + 1]->seconds_since(*events_[start]) / calls_per_sample;
    }
}

void StreamSubject::queue_group(std::size_t first_event, std::size_t samples,
                                int calls_per_sample) {
    Hold hold(*stream_, launching_);
    std::size_t entries = 0;
    stream_->record(*events_[first_event]);
    for (std::size_t sample = 1; sample <= samples; ++sample) {
        for (int call = 0; call < calls_per_sample; ++call) {
            enqueue_(*stream_, calls_++);
            if (++entries == kHeldEntries) hold.release();
        }
        stream_->record(*events_[first_event + sample]);
        if (++entries == kHeldEntries) hold.release();
    }
}

void StreamSubject::clear_caches() {
    if (clear_) clear_();
}

double StreamSubject::measure_resolution() {
    // A coarse timer stands still over many pairs: then try again, for some milliseconds.
    constexpr std::size_t kPairs = 64;
    constexpr int kTries = 1000;
    double shortest = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < kTries; ++attempt) {
        {
            const Hold hold(*stream_);
            for (std::size_t i = 0; i <= kPairs; ++i) stream_->record(event(i));
        }
        stream_->synchronize();
        for (std::size_t i = 0; i < kPairs; ++i) {
            const double seconds = events_[i + 1]->seconds_since(*events_[i]);
            if (seconds > 0) shortest = std::min(shortest, seconds);
        }
        if (shortest < std::numeric_limits<double>::infinity()) return shortest;
    }
    return 0;
}

}  // namespace assay::measure
