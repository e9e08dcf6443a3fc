// A fake device whose products of M = 13, or whose listing, go wrong as ASSAY_FAKE_FAULT says.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "device/module.h"
#include "ops/matmul.h"
#include "support/fake_device.h"

namespace assay::device {
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

std::string fault_asked_for() {
    const char* fault = std::getenv("ASSAY_FAKE_FAULT");
    return fault != nullptr ? fault : "";
}

void go_wrong() {
    const auto fault = fault_asked_for();
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

class UnluckyProduct final : public ops::PreparedMatmul {
  public:
    explicit UnluckyProduct(std::unique_ptr<ops::PreparedMatmul> good) : good_(std::move(good)) {}
    const ops::Implementation& implementation() const override { return good_->implementation(); }
    void enqueue(Stream& stream, const ops::MatmulOperands& operands) override {
        go_wrong();
        good_->enqueue(stream, operands);
    }

  private:
    std::unique_ptr<ops::PreparedMatmul> good_;
};

class FaultyMatmul final : public ops::Matmul {
  public:
    explicit FaultyMatmul(ops::Matmul& good) : good_(good) {}
    std::unique_ptr<ops::PreparedMatmul> prepare(const work::Matmul& problem,
                                                 const ops::MatmulChoice& choice) override {
        auto product = good_.prepare(problem, choice);
        if (problem.m != kUnlucky) return product;
        return std::make_unique<UnluckyProduct>(std::move(product));
    }

  private:
    ops::Matmul& good_;
};

class FaultyDevice final : public Device {
  public:
    const record::DeviceFacts& facts() const override { return good_.facts(); }
    MemoryState memory() const override { return good_.memory(); }
    std::unique_ptr<Buffer> allocate(std::size_t bytes, int node) override {
        return good_.allocate(bytes, node);
    }
    std::unique_ptr<Stream> create_stream() override { return good_.create_stream(); }
    std::unique_ptr<Event> create_event() override { return good_.create_event(); }
    Telemetry& telemetry() override { return good_.telemetry(); }
    void copy_in(void* to, const void* from, std::size_t bytes) override {
        good_.copy_in(to, from, bytes);
    }
    void copy_out(void* to, const void* from, std::size_t bytes) override {
        good_.copy_out(to, from, bytes);
    }
    Facility* facility(std::string_view name) override {
        return name == ops::Matmul::kName ? &matmul_ : good_.facility(name);
    }

  private:
    FakeDevice good_;
    FaultyMatmul matmul_{good_.need<ops::Matmul>()};
};

class FaultyModule final : public Module {
  public:
    std::vector<record::DeviceFacts> list(std::string&) override {
        if (fault_asked_for() == "list") std::abort();
        return {FakeDevice::fake_facts()};
    }
    std::unique_ptr<Device> open(int) override { return std::make_unique<FaultyDevice>(); }
    std::vector<record::SoftwareFacts> software() override { return {}; }
};

}  // namespace
}  // namespace assay::device

extern "C" const assay::device::ModuleEntry assay_module;
const assay::device::ModuleEntry assay_module{
    assay::kModuleAbi, "fake",
    []() -> assay::device::Module* { return new assay::device::FaultyModule; }};
