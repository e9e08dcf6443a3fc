#include "support/fake_device.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "support/fake_attention.h"
#include "support/fake_ops.h"
#include "support/fake_stream.h"

namespace assay::device {
namespace {

class FakeBuffer final : public Buffer {
  public:
    FakeBuffer(FakeDevice& device, std::size_t bytes)
        : device_(device), bytes_(bytes), data_(::operator new(bytes, kAlignment)) {
        std::memset(data_, 0xCD, bytes);  // so that reading before writing shows
    }
    ~FakeBuffer() override {
        ::operator delete(data_, kAlignment);
        device_.give_back(bytes_);
    }
    FakeBuffer(const FakeBuffer&) = delete;
    FakeBuffer& operator=(const FakeBuffer&) = delete;
    void* data() override { return data_; }
    std::size_t size() const override { return bytes_; }

  private:
    static constexpr std::align_val_t kAlignment{64};
    FakeDevice& device_;
    std::size_t bytes_;
    void* data_;
};

class FakeTelemetry final : public Telemetry {
  public:
    explicit FakeTelemetry(const FakeDevice& device) : device_(device) {}
    Reading read() override {
        auto reading = device_.script.reading(device_.now());
        reading.t = device_.now();
        return reading;
    }
    std::vector<std::string> throttle_reasons() override { return device_.script.throttle_reasons; }
    std::string clock_source() const override { return "script"; }
    std::string power_source() const override { return "script"; }

  private:
    const FakeDevice& device_;
};

}  // namespace

FakeDevice::FakeDevice(record::DeviceFacts facts)
    : facts_(std::move(facts)), telemetry_(std::make_unique<FakeTelemetry>(*this)) {
    facilities_.emplace_back(ops::Fill::kName, std::make_unique<FakeFill>());
    facilities_.emplace_back(ops::Matmul::kName, std::make_unique<FakeMatmul>(script));
    facilities_.emplace_back(ops::Attention::kName, std::make_unique<FakeAttention>(script));
    facilities_.emplace_back(ops::Memory::kName, std::make_unique<FakeMemory>(script));
    facilities_.emplace_back(ops::Transfer::kName, std::make_unique<FakeTransfer>(*this));
    facilities_.emplace_back(ops::ClockStamps::kName, std::make_unique<FakeClockStamps>(script));
}

FakeDevice::~FakeDevice() = default;

record::DeviceFacts FakeDevice::fake_facts() {
    record::DeviceFacts facts;
    facts.id = "fake:0";
    facts.kind = "fake";
    facts.name = "Fake device";
    facts.vendor = "assay";
    facts.compute_units = facts.compute_units_total = 4;
    facts.memory_bytes = std::uint64_t{1} << 30;
    facts.last_level_cache_bytes = std::uint64_t{1} << 20;
    facts.max_clock_source = "unavailable: a fake device has no clock";
    return facts;
}

MemoryState FakeDevice::memory() const {
    return {script.memory_bytes, script.memory_bytes - std::min(used_bytes_, script.memory_bytes)};
}

std::unique_ptr<Buffer> FakeDevice::allocate(std::size_t bytes, int) {
    const auto free = memory().free;
    if (bytes > free) {
        throw Unsupported(fmt::format("{} needs {}, {} are free", facts_.id,
                                      format_bytes(static_cast<double>(bytes)),
                                      format_bytes(static_cast<double>(free))));
    }
    used_bytes_ += bytes;
    return std::make_unique<FakeBuffer>(*this, bytes);
}

std::unique_ptr<Stream> FakeDevice::create_stream() {
    return std::make_unique<FakeStream>(*this);
}

std::unique_ptr<Event> FakeDevice::create_event() {
    return std::make_unique<FakeEvent>(*this);
}

void FakeDevice::copy_in(void* to, const void* from_host, std::size_t bytes) {
    std::memcpy(to, from_host, bytes);
}

void FakeDevice::copy_out(void* to_host, const void* from, std::size_t bytes) {
    std::memcpy(to_host, from, bytes);
}

Facility* FakeDevice::facility(std::string_view name) {
    if (script.lacks.contains(std::string(name))) return nullptr;
    if (name == ops::ClockStamps::kName && !script.clock_mhz) return nullptr;
    for (const auto& [known, facility] : facilities_) {
        if (known == name) return facility.get();
    }
    return nullptr;
}

double FakeDevice::queue_call(double start, std::function<void()> call, double slowdown) {
    const auto number = calls_++;
    queued_.push([this, number, call = std::move(call)] {
        if (number == script.lost_at_call) lost_ = true;
        if (lost_) throw DeviceLost(fmt::format("{} is lost", facts_.id));
        if (script.idle_from_call && number >= *script.idle_from_call) return;
        call();
    });
    return start + slowdown * script.seconds(number, start);
}

void FakeDevice::wait_until(double time) {
    while (!queued_.empty()) {
        const auto call = std::move(queued_.front());
        queued_.pop();
        call();
    }
    if (lost_) throw DeviceLost(fmt::format("{} is lost", facts_.id));
    now_ = std::max(now_, time);
}

}  // namespace assay::device
