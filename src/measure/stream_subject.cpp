#include "measure/stream_subject.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::measure {
namespace {

// Calls and events queued behind one hold.
constexpr std::size_t kHeldEntries = 128;

// A stamp takes microseconds: about 2 % of a block, and nothing of a timed span.
constexpr double kBlockS = 200e-6;

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
      stamps_(dynamic_cast<ops::ClockStamps*>(device.facility(ops::ClockStamps::kName))),
      stream_(device.create_stream()),
      resolution_(measure_resolution()) {}

StreamSubject::~StreamSubject() = default;

device::Event& StreamSubject::event(std::size_t index) {
    while (events_.size() <= index) events_.push_back(device_.create_event());
    return *events_[index];
}

// Events: one before each block and one after each sample. Stamps: one before each block and one
// more after the last block of a group, as the device may wait between groups.
struct StreamSubject::Layout {
    std::size_t samples;
    int calls_per_sample;
    std::size_t block;  // samples in a block
    std::size_t group;  // blocks in a group

    std::size_t blocks() const { return (samples + block - 1) / block; }
    std::size_t groups() const { return (blocks() + group - 1) / group; }
    std::size_t stamps() const { return blocks() + groups(); }
    std::size_t samples_of(std::size_t b) const { return std::min(block, samples - b * block); }
    std::size_t first_event(std::size_t b) const { return b * (block + 1); }
    std::size_t first_stamp(std::size_t b) const { return b + b / group; }
};

StreamSubject::Layout StreamSubject::layout_of(std::size_t samples, int calls_per_sample) const {
    const std::size_t per_sample = static_cast<std::size_t>(calls_per_sample) + 1;
    const auto fitting = [](std::size_t entries, std::size_t each) {
        return std::max<std::size_t>(1, entries / each);
    };
    if (stamps_ == nullptr) {
        return {samples, calls_per_sample, fitting(kHeldEntries, per_sample), 1};
    }
    const double sample_s = call_s_ * calls_per_sample;
    const std::size_t most = fitting(kHeldEntries - 3, per_sample);
    std::size_t block = 1;  // until the length is known
    if (sample_s >= 0) {
        block = static_cast<std::size_t>(std::clamp(kBlockS / sample_s, 1.0, 1.0 * kHeldEntries));
    }
    block = std::min(block, most);
    // A stamp and an event before each block, and a stamp after the last one.
    return {samples, calls_per_sample, block, fitting(kHeldEntries - 1, block * per_sample + 2)};
}

void StreamSubject::run(std::span<double> seconds, int calls_per_sample) {
    clock_mhz_.clear();
    if (seconds.empty()) return;
    const auto layout = layout_of(seconds.size(), calls_per_sample);
    event(layout.first_event(layout.blocks() - 1) + layout.block);
    if (stamps_ != nullptr) stamps_->reserve(layout.stamps());
    for (std::size_t block = 0; block < layout.blocks(); block += layout.group) {
        queue_group(layout, block);
    }
    stream_->synchronize();
    ran_ = true;

    for (std::size_t sample = 0; sample < seconds.size(); ++sample) {
        const std::size_t start = layout.first_event(sample / layout.block) + sample % layout.block;
        seconds[sample] = events_[start + 1]->seconds_since(*events_[start]) / calls_per_sample;
    }
    call_s_ = seconds.back();
    if (stamps_ != nullptr) read_clocks(layout);
}

void StreamSubject::queue_group(const Layout& layout, std::size_t first_block) {
    Hold hold(*stream_, ran_ ? launching_ : Launching::free);
    std::size_t entries = 0;
    // Only a sample of more calls than a group takes comes to the release in here.
    const auto count = [&] {
        if (++entries == kHeldEntries) hold.release();
    };
    const auto stamp = [&](std::size_t index) {
        if (stamps_ == nullptr) return;
        stamps_->enqueue(*stream_, index);
        count();
    };
    const std::size_t end = std::min(first_block + layout.group, layout.blocks());
    for (std::size_t block = first_block; block < end; ++block) {
        stamp(layout.first_stamp(block));
        std::size_t next_event = layout.first_event(block);
        stream_->record(*events_[next_event++]);
        if (stamps_ != nullptr) count();
        for (std::size_t sample = 0; sample < layout.samples_of(block); ++sample) {
            for (int call = 0; call < layout.calls_per_sample; ++call) {
                enqueue_(*stream_, calls_++);
                count();
            }
            stream_->record(*events_[next_event++]);
            count();
        }
    }
    stamp(layout.first_stamp(end - 1) + 1);
}

void StreamSubject::read_clocks(const Layout& layout) {
    const auto between = stamps_->clock_mhz(layout.stamps());
    clock_mhz_.reserve(layout.samples);
    for (std::size_t sample = 0; sample < layout.samples; ++sample) {
        clock_mhz_.push_back(between.at(layout.first_stamp(sample / layout.block)));
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
