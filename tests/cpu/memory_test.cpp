#include "cpu/memory.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/error.h"
#include "device_under_test.h"

namespace assay::cpu {
namespace {

using work::MemoryOp;

constexpr std::uint64_t kBytes = 1'000'004;  // no whole number of pages or vectors
constexpr std::uint64_t kElements = kBytes / 4;

class MemoryFacility : public testing::Test {
  protected:
    MemoryFacility() {
        auto& fill = device_.need<ops::Fill>();
        fill.enqueue(*stream_, {.seed = 1, .stream = 0}, work::Type::fp32, kElements, a_->data());
        fill.enqueue(*stream_, {.seed = 1, .stream = 1}, work::Type::fp32, kElements, b_->data());
    }
    static float at(device::Buffer& buffer, std::uint64_t i) {
        return static_cast<float*>(buffer.data())[i];
    }

    device::Device& device_ = device_under_test();
    std::unique_ptr<device::Stream> stream_ = device_.create_stream();
    std::unique_ptr<device::Buffer> a_ = device_.allocate(kBytes), b_ = device_.allocate(kBytes),
                                    c_ = device_.allocate(kBytes);
};

TEST_F(MemoryFacility, EveryOpComputesWhatItsNameSays) {
    for (const MemoryOp op : work::all_memory_ops()) {
        for (const bool in_cache : {false, true}) {
            const auto prepared = device_.need<ops::Memory>().prepare(
                {.op = op, .bytes_per_array = kBytes, .in_cache = in_cache});
            prepared->enqueue(*stream_, {a_->data(), b_->data(), c_->data()});
            stream_->synchronize();
            double sum = 0;
            for (std::uint64_t i = 0; i < kElements; ++i) {
                const float a = at(*a_, i);
                const float b = at(*b_, i);
                const float s = work::kScalar;
                sum += static_cast<double>(a);
                if (op == MemoryOp::read) continue;
                const float expected = op == MemoryOp::copy    ? a
                                       : op == MemoryOp::write ? s
                                       : op == MemoryOp::scale ? s * a
                                       : op == MemoryOp::add   ? a + b
                                                               : a + s * b;
                ASSERT_EQ(at(*c_, i), expected) << work::name(op) << ' ' << i;
            }
            if (op == MemoryOp::read) {
                EXPECT_NEAR(prepared->sum(), sum, 1e-6 * static_cast<double>(kElements));
            }
        }
    }
}

TEST_F(MemoryFacility, NamesItsImplementation) {
    auto& memory = device_.need<ops::Memory>();
    const auto best = memory.prepare({.op = MemoryOp::triad, .bytes_per_array = kBytes});
    EXPECT_EQ(best->implementation().path, record::Path::fast);
    EXPECT_EQ(best->implementation().threads, device_.facts().compute_units);
    setenv("ASSAY_CPU_ISA", "baseline", 1);
    const auto forced = memory.prepare({.op = MemoryOp::triad, .bytes_per_array = kBytes});
    unsetenv("ASSAY_CPU_ISA");
    EXPECT_NE(forced->implementation().algorithm.find("baseline"), std::string::npos);
    if (best->implementation().algorithm != forced->implementation().algorithm) {
        EXPECT_EQ(forced->implementation().path, record::Path::fallback);
        EXPECT_FALSE(forced->implementation().note.empty());
    }
}

TEST_F(MemoryFacility, RunsOnANodesCoresOnly) {
    auto& memory = device_.need<ops::Memory>();
    const int node = device_.facts().nodes.at(0).index;
    const auto prepared =
        memory.prepare({.op = MemoryOp::copy, .bytes_per_array = kBytes, .node = node});
    prepared->enqueue(*stream_, {a_->data(), nullptr, c_->data()});
    EXPECT_EQ(at(*c_, kElements - 1), at(*a_, kElements - 1));
    EXPECT_THROW(memory.prepare({.bytes_per_array = kBytes, .node = 99}), Unsupported);
}

}  // namespace
}  // namespace assay::cpu
