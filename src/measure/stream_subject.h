// A subject that is a call on a device's stream, timed by the device's events.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "measure/subject.h"

namespace assay::measure {

class StreamSubject final : public Subject {
  public:
    // Queues call number `call`, counted from 0 over the subject's life, so that it can rotate its
    // operands.
    using Enqueue = std::function<void(device::Stream& stream, std::size_t call)>;

    // `clear` may be empty.
    StreamSubject(std::string name, device::Device& device, Enqueue enqueue,
                  std::function<void()> clear = {});
    ~StreamSubject() override;

    std::string name() const override { return name_; }
    void run(std::span<double> seconds, int calls_per_sample) override;
    void clear_caches() override;
    double resolution() const override { return resolution_; }

  private:
    std::string name_;
    device::Device& device_;
    Enqueue enqueue_;
    std::function<void()> clear_;
    std::unique_ptr<device::Stream> stream_;
    std::vector<std::unique_ptr<device::Event>> events_;
    std::size_t calls_ = 0;
    double resolution_ = 0;
};

}  // namespace assay::measure
