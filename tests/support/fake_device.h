// A device over host memory, with scripted time and telemetry, for tests of what is above devices.
//
// It computes right answers, plainly. As on a GPU nothing runs before a stream is synchronized or
// an event waited for, so that code which forgets to wait reads garbage; what would wait for ever
// throws std::logic_error. Time stands still but for advance() and for waiting: each call takes the
// seconds that the script says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "device/device.h"
#include "work/attention.h"
#include "work/type.h"

namespace assay::device {

// One of the device's ways to a product, an entry point or an algorithm, or to attention.
struct FakeWay {
    std::string name;
    double slowdown = 1;       // a call takes so many times the script's seconds
    double wrong_by = 0;       // besides the script's
    bool unsupported = false;  // prepare() throws Unsupported
    bool fails = false;        // enqueue() throws Error
    std::size_t workspace_bytes = 0;
    std::function<void()> on_prepare = {};  // unless it is refused
    std::int64_t largest_dim = 0;           // of attention: it refuses larger ones; 0: it takes all
};

struct FakeScript {
    // Seconds that call number `call`, counted from 0 over the device's life and starting at
    // `time`, takes. Matmul, attention, memory, fill and transfer calls count.
    std::function<double(std::size_t call, double time)> seconds = [](std::size_t, double) {
        return 1e-3;
    };
    double event_s = 0;  // that recording an event takes
    // Telemetry at `time`; its t is set afterwards.
    std::function<Reading(double time)> reading = [](double) { return Reading{}; };
    std::vector<std::string> throttle_reasons;
    // The device's clock at `time`, which it then stamps; none: it has no stamps.
    std::function<double(double time)> clock_mhz;

    // The first of each is what a product takes unasked.
    std::vector<FakeWay> entries, algorithms;
    std::vector<FakeWay> providers{{.name = "oracle"}};  // of attention
    // A call of attention takes so many times the script's seconds; none: once.
    std::function<double(const work::Attention&, work::AttentionPass)> attention_slowdown;
    mutable std::size_t most_enumerated = 0;  // asked of the list of algorithms

    std::size_t memory_bytes = std::size_t{1} << 30;
    std::set<std::string> lacks;       // facilities, by name
    std::set<work::Type> lacks_types;  // of matrix operands
    double wrong_by = 0;               // relative error of every result; a word of a copy
    // Of attention: in that pass, query head h reads key/value head h % kv_heads.
    std::optional<work::AttentionPass> mispairs_heads;
    std::string wrong_in;              // of attention: "o", "lse", "d_q", "d_k" or "d_v"; "": all
    std::vector<std::string> kernels;  // ways of each memory operation
    std::uint64_t largest_slice = std::uint64_t{32} << 20, least_bytes = std::uint64_t{8} << 20;
    std::optional<std::size_t> lost_at_call;    // that call loses the device
    std::optional<std::size_t> idle_from_call;  // that call and those after it do nothing
};

class FakeDevice final : public Device {
  public:
    explicit FakeDevice(record::DeviceFacts facts = fake_facts());
    ~FakeDevice() override;

    // "fake:0", last-level cache 1 MiB.
    static record::DeviceFacts fake_facts();

    FakeScript script;  // may be changed at any time

    double now() const { return now_; }                // s
    void advance(double seconds) { now_ += seconds; }  // the host idles or works
    std::size_t calls() const { return calls_; }       // queued so far

    const record::DeviceFacts& facts() const override { return facts_; }
    MemoryState memory() const override;
    std::unique_ptr<Buffer> allocate(std::size_t bytes, int node = kAnyNode) override;
    std::unique_ptr<Stream> create_stream() override;
    std::unique_ptr<Event> create_event() override;
    Telemetry& telemetry() override { return *telemetry_; }
    void copy_in(void* to, const void* from_host, std::size_t bytes) override;
    void copy_out(void* to_host, const void* from, std::size_t bytes) override;
    Facility* facility(std::string_view name) override;

    // For the fake's own parts.
    // When it ends.
    double queue_call(double start, std::function<void()> call, double slowdown = 1);
    void wait_until(double time);  // runs what is queued
    void give_back(std::size_t bytes) { used_bytes_ -= bytes; }

  private:
    record::DeviceFacts facts_;
    double now_ = 100;  // as far from 0 as a real clock is
    std::size_t calls_ = 0;
    std::size_t used_bytes_ = 0;
    bool lost_ = false;
    std::queue<std::function<void()>> queued_;  // of all streams: in that order each may run
    std::unique_ptr<Telemetry> telemetry_;
    std::vector<std::pair<std::string, std::unique_ptr<Facility>>> facilities_;
};

}  // namespace assay::device
