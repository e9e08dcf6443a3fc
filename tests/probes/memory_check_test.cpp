#include "probes/memory_check.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "support/fake_device.h"
#include "support/fake_stream.h"
#include "work/fill.h"
#include "work/memory_op.h"

namespace assay::probes {
namespace {

using work::MemoryOp;

constexpr std::uint64_t kSeed = 3;
// One element, fewer than are looked at, just as many, and more.
constexpr std::uint64_t kSizes[]{4, 12, 4000, 4004, 1 << 18};

// Checks a kernel that does `done` where `asked` was asked for.
record::Check check(device::FakeDevice& device, const ops::MemoryRequest& asked,
                    const ops::MemoryRequest& done) {
    const auto kernel = device.need<ops::Memory>().prepare(done);
    const auto a = device.allocate(asked.bytes_per_array);
    const auto b = device.allocate(asked.bytes_per_array);
    const auto c = device.allocate(asked.bytes_per_array);
    const bool reads = work::arrays_read(asked.op) > 0;
    const ops::MemoryOperands arrays{reads ? a->data() : nullptr,
                                     work::arrays_read(asked.op) > 1 ? b->data() : nullptr,
                                     work::arrays_written(asked.op) > 0 ? c->data() : nullptr};
    return check_memory(device, *kernel, asked, arrays, kSeed);
}

TEST(MemoryCheck, PassesEveryKernelThatDoesWhatItSays) {
    for (const auto op : work::all_memory_ops()) {
        for (const auto bytes : kSizes) {
            device::FakeDevice device;
            const auto found = check(device, {op, bytes}, {op, bytes});
            EXPECT_EQ(found.name, "answer");
            EXPECT_TRUE(found.passed) << work::name(op) << " " << bytes << ": " << found.detail;
        }
    }
}

TEST(MemoryCheck, FindsAKernelThatLeavesSomethingOut) {
    struct Fault {
        const char* what;
        std::function<std::uint64_t(std::uint64_t)> bytes_done;
    };
    const Fault faults[]{
        {"does nothing", [](std::uint64_t) { return 0; }},
        {"skips the last element", [](std::uint64_t bytes) { return bytes - 4; }},
        {"does only half", [](std::uint64_t bytes) { return bytes / 8 * 4; }},
    };
    for (const auto op : work::all_memory_ops()) {
        for (const auto bytes : kSizes) {
            for (const auto& fault : faults) {
                device::FakeDevice device;
                const auto found = check(device, {op, bytes}, {op, fault.bytes_done(bytes)});
                EXPECT_FALSE(found.passed) << work::name(op) << " of " << bytes << " bytes that "
                                           << fault.what << ": " << found.detail;
            }
        }
    }
}

TEST(MemoryCheck, FindsAKernelThatDoesSomethingElse) {
    for (const auto asked : {MemoryOp::copy, MemoryOp::scale, MemoryOp::add, MemoryOp::triad}) {
        for (const auto done : {MemoryOp::copy, MemoryOp::write, MemoryOp::scale}) {
            if (asked == done) continue;
            device::FakeDevice device;
            EXPECT_FALSE(check(device, {asked, 4096}, {done, 4096}).passed)
                << work::name(done) << " for " << work::name(asked);
        }
    }
    device::FakeDevice device;
    EXPECT_FALSE(check(device, {MemoryOp::triad, 4096}, {MemoryOp::add, 4096}).passed);
    EXPECT_FALSE(check(device, {MemoryOp::add, 4096}, {MemoryOp::triad, 4096}).passed);
}

TEST(MemoryCheck, FindsElementsThatAreALittleOff) {
    for (const auto op : work::all_memory_ops()) {
        device::FakeDevice device;
        device.script.wrong_by = 1e-6;
        EXPECT_FALSE(check(device, {op, 4096}, {op, 4096}).passed) << work::name(op);
    }
}

// Triad with one rounding, as a fused multiply-add gives it.
class FusedTriad final : public ops::PreparedMemory {
  public:
    explicit FusedTriad(std::uint64_t elements) : elements_(elements) {}
    const ops::Implementation& implementation() const override { return implementation_; }
    void enqueue(device::Stream& stream, const ops::MemoryOperands& arrays) override {
        dynamic_cast<device::FakeStream&>(stream).call([elements = elements_, arrays] {
            const auto* a = static_cast<const float*>(arrays.a);
            const auto* b = static_cast<const float*>(arrays.b);
            for (std::uint64_t i = 0; i < elements; ++i) {
                static_cast<float*>(arrays.c)[i] = std::fma(work::kScalar, b[i], a[i]);
            }
        });
    }
    double sum() override { return 0; }

  private:
    std::uint64_t elements_;
    ops::Implementation implementation_;
};

TEST(MemoryCheck, PassesTriadWithOneRoundingToo) {
    device::FakeDevice device;
    constexpr std::uint64_t kBytes = 4000;
    FusedTriad triad(kBytes / 4);
    const auto a = device.allocate(kBytes), b = device.allocate(kBytes),
               c = device.allocate(kBytes);
    const auto found = check_memory(device, triad, {MemoryOp::triad, kBytes},
                                    {a->data(), b->data(), c->data()}, kSeed);
    EXPECT_TRUE(found.passed) << found.detail;
}

TEST(MemoryCheck, LeavesTheOperandsOfAReadFilled) {
    device::FakeDevice device;
    const ops::MemoryRequest request{MemoryOp::read, 4096};
    const auto kernel = device.need<ops::Memory>().prepare(request);
    const auto a = device.allocate(4096);
    EXPECT_TRUE(
        check_memory(device, *kernel, request, {a->data(), nullptr, nullptr}, kSeed).passed);
    for (const std::uint64_t i : {0U, 1U, 1023U}) {
        EXPECT_EQ(
            work::load(work::Type::fp32, a->data(), i),
            work::fill_value({work::Distribution::normal, kSeed, kArrayA}, work::Type::fp32, i));
    }
}

}  // namespace
}  // namespace assay::probes
