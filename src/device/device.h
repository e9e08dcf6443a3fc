// A device as the rest of assay sees it: memory, streams, events, graphs, telemetry and the
// facilities (ops/) it offers. Drawn so that a CPU, which runs a call at once, and a GPU, which
// queues it, obey the same rules: nothing is complete before its stream is synchronized.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "device/telemetry.h"
#include "record/device_facts.h"

namespace assay::device {

inline constexpr int kAnyNode = -1;

// Memory of the device. Freed with the object, after whoever uses it has synchronized.
class Buffer {
  public:
    virtual ~Buffer() = default;
    virtual void* data() = 0;  // an address of the device's
    virtual std::size_t size() const = 0;
};

// A point in a stream. A new event has no time.
class Event {
  public:
    virtual ~Event() = default;
    // Waits until the event is reached; seconds from `start`, of the same device, to this one.
    virtual double seconds_since(Event& start) = 0;
};

class Stream;

// Work recorded once, launched many times.
class Graph {
  public:
    virtual ~Graph() = default;
    virtual void launch(Stream& stream) = 0;
};

// Work in order.
class Stream {
  public:
    virtual ~Stream() = default;
    virtual void record(Event& event) = 0;
    // Work queued later starts after `event`, of any stream of the device.
    virtual void wait(Event& event) = 0;
    // Work queued after hold() starts only at release(), so that launching isn't timed; a device
    // where a call runs at once ignores both.
    virtual void hold() = 0;
    virtual void release() = 0;
    // Runs `work` with its calls recorded instead of executed.
    virtual std::unique_ptr<Graph> capture(const std::function<void()>& work) = 0;
    // Throws DeviceLost or Error for anything that went wrong in the stream.
    virtual void synchronize() = 0;
};

struct MemoryState {
    std::size_t total = 0, free = 0;  // bytes, usable by this process
};

// Base of everything in ops/: what a device can compute, found by name.
class Facility {
  public:
    virtual ~Facility() = default;
};

class Device {
  public:
    virtual ~Device() = default;

    virtual const record::DeviceFacts& facts() const = 0;
    virtual MemoryState memory() const = 0;
    // Throws Unsupported naming bytes needed and free when they don't fit; never overcommits.
    // `node` is a NUMA node of the device; contents are undefined, pages are present.
    virtual std::unique_ptr<Buffer> allocate(std::size_t bytes, int node = kAnyNode) = 0;
    virtual std::unique_ptr<Stream> create_stream() = 0;
    virtual std::unique_ptr<Event> create_event() = 0;
    virtual Telemetry& telemetry() = 0;

    // Blocking copies between host memory and the device's.
    virtual void copy_in(void* to, const void* from_host, std::size_t bytes) = 0;
    virtual void copy_out(void* to_host, const void* from, std::size_t bytes) = 0;

    // Null when the device has none of that name.
    virtual Facility* facility(std::string_view name) = 0;

    // The facility of an op's interface; throws Unsupported when the device lacks it.
    template <class Op>
    Op& need() {
        if (auto* op = dynamic_cast<Op*>(facility(Op::kName))) return *op;
        throw Unsupported("device " + facts().id + " has no " + std::string(Op::kName));
    }
};

}  // namespace assay::device
