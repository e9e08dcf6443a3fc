// A subject that is a call on a device's stream, timed by the device's events.
//
// Neighbouring samples share the event between them, so nothing else runs between two calls. Calls
// are queued in groups that the stream holds back until the group is queued, so that the host's
// launching isn't timed; one group is queued while the one before it runs. A group is small enough
// for a device's queue of launches (1,024 on CUDA, and a call may be several): a queue that is full
// and held would never move. The first run isn't held: a library may load its code in it, and that
// waits for everything that runs, a held stream included. So it is one to be thrown away.
//
// Where the device stamps clocks (ops/clock_stamps.h), samples come in blocks of about 200 us, with
// a stamp before and after each; every sample of a block has the block's clock. A block starts with
// an event of its own, so that no timed span holds a stamp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "measure/subject.h"
#include "ops/clock_stamps.h"

namespace assay::measure {

// Calls that make the host wait inside enqueue() (ops/transfer.h) are launched freely: behind a
// hold they would wait for ever.
enum class Launching { held, free };

class StreamSubject final : public Subject {
  public:
    // Queues call number `call`, counted from 0 over the subject's life, so that it can rotate its
    // operands.
    using Enqueue = std::function<void(device::Stream& stream, std::size_t call)>;

    // `clear` may be empty.
    StreamSubject(std::string name, device::Device& device, Enqueue enqueue,
                  std::function<void()> clear = {}, Launching launching = Launching::held);
    ~StreamSubject() override;
    StreamSubject(const StreamSubject&) = delete;
    StreamSubject& operator=(const StreamSubject&) = delete;

    std::string name() const override { return name_; }
    void run(std::span<double> seconds, int calls_per_sample) override;
    std::span<const double> clock_mhz() const override { return clock_mhz_; }
    void clear_caches() override;
    // The shortest time seen between two events with nothing between them, so a whole number of
    // ticks that also holds what recording an event costs. 0 when the timer never moved.
    double resolution() const override { return resolution_; }
    // The same time: it is what an event takes that stands between two calls.
    std::optional<double> gap() const override {
        return resolution_ > 0 ? std::optional(resolution_) : std::nullopt;
    }

  private:
    struct Layout;  // of samples in blocks and groups

    Layout layout_of(std::size_t samples, int calls_per_sample) const;
    void queue_group(const Layout& layout, std::size_t first_block);
    void read_clocks(const Layout& layout);
    device::Event& event(std::size_t index);
    double measure_resolution();

    std::string name_;
    device::Device& device_;
    Enqueue enqueue_;
    std::function<void()> clear_;
    Launching launching_;
    bool ran_ = false;
    ops::ClockStamps* stamps_;  // null where the device has none
    std::unique_ptr<device::Stream> stream_;
    std::vector<std::unique_ptr<device::Event>> events_;
    std::vector<double> clock_mhz_;  // of the samples of the last run
    std::size_t calls_ = 0;
    double call_s_ = -1;  // by the last run; below 0 before any
    double resolution_ = 0;
};

}  // namespace assay::measure
