// A device that computes right on the host, but for a product of M = 13, which goes wrong as
// ASSAY_FAKE_FAULT says.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/time.h"
#include "device/module.h"
#include "ops/fill.h"
#include "ops/matmul.h"

namespace assay {
namespace {

constexpr std::int64_t kUnlucky = 13;

// Writes a line that is no JSON wherever it may be read as a reply.
void write_to_every_pipe() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int descriptor = std::stoi(entry.path().filename());
        const int flags = ::fcntl(descriptor, F_GETFL);
        std::error_code ignored;
        const bool pipe = std::filesystem::is_fifo(entry.path(), ignored);
        if (descriptor <= STDERR_FILENO || !pipe || (flags & O_ACCMODE) != O_WRONLY) continue;
        [[maybe_unused]] const auto written = ::write(descriptor, "garbage\n", 8);
    }
}

void go_wrong() {
    const char* variable = std::getenv("ASSAY_FAKE_FAULT");
    const std::string fault = variable != nullptr ? variable : "";
    if (fault == "segv") *reinterpret_cast<volatile int*>(16) = 0;
    if (fault == "abort") std::abort();
    if (fault == "exit") std::_Exit(0);
    if (fault == "stop") std::raise(SIGSTOP);
    if (fault == "garble") write_to_every_pipe();
    if (fault == "throw") throw std::runtime_error("the vendor's own exception");
    if (fault == "lose") throw DeviceLost("fake:0 fell off the bus");
    if (fault == "print") {
        std::puts("a library that talks");
        std::fflush(stdout);
    }
}

class HostBuffer final : public device::Buffer {
  public:
    explicit HostBuffer(std::size_t bytes) : bytes_(bytes) {}
    void* data() override { return bytes_.data(); }
    std::size_t size() const override { return bytes_.size(); }

  private:
    std::vector<std::byte> bytes_;
};

class HostEvent final : public device::Event {
  public:
    double seconds_since(device::Event& start) override {
        return at - static_cast<HostEvent&>(start).at;
    }
    double at = 0;
};

class HostStream final : public device::Stream {
  public:
    void record(device::Event& event) override {
        static_cast<HostEvent&>(event).at = monotonic_seconds();
    }
    void wait(device::Event&) override {}
    void hold() override {}
    void release() override {}
    std::unique_ptr<device::Graph> capture(const std::function<void()>&) override {
        throw Unsupported("fake has no graphs");
    }
    void synchronize() override {}
};

class NoTelemetry final : public device::Telemetry {
  public:
    device::Reading read() override {
        device::Reading reading;
        reading.t = monotonic_seconds();
        return reading;
    }
    std::vector<std::string> throttle_reasons() override { return {}; }
    std::string clock_source() const override { return "unavailable: a fake"; }
    std::string power_source() const override { return "unavailable: a fake"; }
};

class HostFill final : public ops::Fill {
  public:
    void enqueue(device::Stream&, const work::FillSpec& spec, work::Type type, std::uint64_t count,
                 void* out) override {
        work::fill(spec, type, 0, count, out);
    }
};

class HostProduct final : public ops::PreparedMatmul {
  public:
    explicit HostProduct(const work::Matmul& problem) : problem_(problem) {
        implementation_.library = "fake";
        implementation_.path = record::Path::portable;
    }
    const ops::Implementation& implementation() const override { return implementation_; }
    void enqueue(device::Stream&, const ops::MatmulOperands& operands) override {
        const auto& p = problem_;
        if (p.m == kUnlucky) go_wrong();
        const auto* a = static_cast<const float*>(operands.a);
        const auto* b = static_cast<const float*>(operands.b);
        auto* c = static_cast<float*>(operands.c);
        for (std::int64_t i = 0; i < p.m; ++i) {
            for (std::int64_t j = 0; j < p.n; ++j) {
                float sum = 0;
                for (std::int64_t l = 0; l < p.k; ++l) sum += a[i * p.k + l] * b[l * p.n + j];
                c[i * p.n + j] = sum;
            }
        }
    }

  private:
    work::Matmul problem_;
    ops::Implementation implementation_;
};

class HostMatmul final : public ops::Matmul {
  public:
    std::unique_ptr<ops::PreparedMatmul> prepare(const work::Matmul& problem) override {
        const work::Matmul plain{.m = problem.m, .n = problem.n, .k = problem.k};
        if (problem != plain) throw Unsupported("fake does plain fp32 products only");
        return std::make_unique<HostProduct>(problem);
    }
};

record::DeviceFacts fake_facts() {
    record::DeviceFacts facts;
    facts.id = "fake:0";
    facts.kind = "fake";
    facts.name = "a device for tests";
    facts.compute_units = facts.compute_units_total = 1;
    facts.memory_bytes = std::uint64_t{1} << 30;
    facts.last_level_cache_bytes = 4096;
    facts.max_clock_source = "unavailable: a fake";
    return facts;
}

class FakeDevice final : public device::Device {
  public:
    const record::DeviceFacts& facts() const override { return facts_; }
    device::MemoryState memory() const override {
        return {facts_.memory_bytes, facts_.memory_bytes};
    }
    std::unique_ptr<device::Buffer> allocate(std::size_t bytes, int) override {
        return std::make_unique<HostBuffer>(bytes);
    }
    std::unique_ptr<device::Stream> create_stream() override {
        return std::make_unique<HostStream>();
    }
    std::unique_ptr<device::Event> create_event() override { return std::make_unique<HostEvent>(); }
    device::Telemetry& telemetry() override { return telemetry_; }
    void copy_in(void* to, const void* from, std::size_t bytes) override {
        std::memcpy(to, from, bytes);
    }
    void copy_out(void* to, const void* from, std::size_t bytes) override {
        std::memcpy(to, from, bytes);
    }
    device::Facility* facility(std::string_view name) override {
        if (name == ops::Fill::kName) return &fill_;
        if (name == ops::Matmul::kName) return &matmul_;
        return nullptr;
    }

  private:
    record::DeviceFacts facts_ = fake_facts();
    NoTelemetry telemetry_;
    HostFill fill_;
    HostMatmul matmul_;
};

class FakeModule final : public device::Module {
  public:
    std::vector<record::DeviceFacts> list(std::string&) override { return {fake_facts()}; }
    std::unique_ptr<device::Device> open(int) override { return std::make_unique<FakeDevice>(); }
    std::vector<record::SoftwareFacts> software() override { return {}; }
};

}  // namespace
}  // namespace assay

extern "C" const assay::device::ModuleEntry assay_module;
const assay::device::ModuleEntry assay_module{
    assay::kModuleAbi, "fake", []() -> assay::device::Module* { return new assay::FakeModule; }};
