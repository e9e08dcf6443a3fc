#include <vector>

#include "base/error.h"
#include "device_under_test.h"

namespace assay::cuda {
namespace {

using work::MemoryOp;

class CudaMemoryKernels : public WithGpu {
  protected:
    // Small integers: sums are exact in any order.
    std::vector<float> array(std::size_t count, unsigned seed) {
        std::vector<float> values(count);
        work::fill({work::Distribution::ints, seed, 0}, work::Type::fp32, 0, count, values.data());
        return values;
    }
    std::unique_ptr<device::Buffer> on_device(const std::vector<float>& values) {
        auto buffer = device().allocate(values.size() * sizeof(float));
        device().copy_in(buffer->data(), values.data(), buffer->size());
        return buffer;
    }
};

float expected(MemoryOp op, float a, float b) {
    switch (op) {
        case MemoryOp::write:
            return work::kScalar;
        case MemoryOp::scale:
            return work::kScalar * a;
        case MemoryOp::add:
            return a + b;
        case MemoryOp::triad:
            return a + work::kScalar * b;
        default:
            return a;
    }
}

// Every element, by every kernel, for sizes around what a thread, a bulk copy and a block take, and
// not a float beyond the end.
TEST_F(CudaMemoryKernels, ComputeEveryElementAndNoMore) {
    const auto stream = device().create_stream();
    auto& memory = device().need<ops::Memory>();
    constexpr std::size_t kGuard = 64;
    for (const std::size_t count :
         {1U, 3U, 4U, 5U, 1023U, 1024U, 4097U, 16'384U, 16'387U, 1'000'003U}) {
        const auto a = array(count, 1), b = array(count, 2);
        const auto on_a = on_device(a), on_b = on_device(b);
        for (const auto op : work::all_memory_ops()) {
            if (op == MemoryOp::read) continue;
            for (const auto& kernel : memory.kernels(op)) {
                for (const int passes : {1, 3}) {
                    if (passes > 1 && kernel != "vector") continue;  // refused, see below
                    const std::vector<float> poison(count + kGuard, -77);
                    const auto on_c = on_device(poison);
                    const auto prepared = memory.prepare(
                        {op, count * sizeof(float), passes > 1, device::kAnyNode, passes, kernel});
                    prepared->enqueue(*stream, {on_a->data(), on_b->data(), on_c->data()});
                    stream->synchronize();
                    auto c = poison;
                    device().copy_out(c.data(), on_c->data(), on_c->size());
                    auto right = poison;
                    for (std::size_t i = 0; i < count; ++i) right[i] = expected(op, a[i], b[i]);
                    ASSERT_EQ(c, right) << work::name(op) << ' ' << kernel << ' ' << count;
                }
            }
        }
    }
}

TEST_F(CudaMemoryKernels, SumWhatTheyRead) {
    const auto stream = device().create_stream();
    for (const std::size_t count : {1U, 5U, 1023U, 1'000'003U, 30'000'001U}) {
        const auto a = array(count, 5);
        double sum = 0;
        for (const float value : a) sum += static_cast<double>(value);
        const auto on_a = on_device(a);
        for (const int passes : {1, 4}) {
            const auto prepared = device().need<ops::Memory>().prepare(
                {MemoryOp::read, count * sizeof(float), false, device::kAnyNode, passes});
            prepared->enqueue(*stream, {on_a->data(), nullptr, nullptr});
            stream->synchronize();
            EXPECT_EQ(prepared->sum(), sum) << count << " in " << passes << " passes";
        }
    }
}

TEST_F(CudaMemoryKernels, RefuseWhatTheyLack) {
    auto& memory = device().need<ops::Memory>();
    EXPECT_THROW((void)memory.prepare({MemoryOp::read, 64, false, device::kAnyNode, 1, "bulk"}),
                 Unsupported);
    EXPECT_THROW((void)memory.prepare({MemoryOp::copy, 64, false, 0}), Unsupported);
    // A pass of these is a launch.
    EXPECT_THROW((void)memory.prepare({MemoryOp::copy, 64, true, device::kAnyNode, 3, "runtime"}),
                 Unsupported);
}

TEST_F(CudaMemoryKernels, TransferEveryByteEachWay) {
    const auto stream = device().create_stream();
    constexpr std::uint64_t kBytes = (1 << 20) + 12;
    for (const auto what : work::all_transfers()) {
        for (const auto host : {work::HostMemory::pinned, work::HostMemory::pageable}) {
            const auto prepared = device().need<ops::Transfer>().prepare({what, kBytes, host});
            EXPECT_EQ(prepared->waits(), host == work::HostMemory::pageable &&
                                             what != work::Transfer::device_to_device);
            std::vector<unsigned char> pattern(kBytes);
            unsigned next = 1;
            const auto write = [&](void* to, bool to_host) {
                for (auto& byte : pattern) byte = static_cast<unsigned char>(next = next * 5 + 1);
                if (to_host) {
                    std::copy(pattern.begin(), pattern.end(), static_cast<unsigned char*>(to));
                } else {
                    device().copy_in(to, pattern.data(), kBytes);
                }
            };
            const auto read = [&](const void* from, bool from_host) {
                std::vector<unsigned char> bytes(kBytes);
                if (from_host) {
                    const auto* begin = static_cast<const unsigned char*>(from);
                    std::copy(begin, begin + kBytes, bytes.begin());
                } else {
                    device().copy_out(bytes.data(), from, kBytes);
                }
                return bytes;
            };
            for (const auto& ends : prepared->ends()) write(ends.from, ends.from_host);
            prepared->enqueue(*stream);
            stream->synchronize();
            for (const auto& ends : prepared->ends()) {
                EXPECT_EQ(read(ends.to, ends.to_host), read(ends.from, ends.from_host))
                    << work::name(what) << ' ' << work::name(host);
            }
        }
    }
}

}  // namespace
}  // namespace assay::cuda
