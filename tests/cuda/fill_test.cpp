#include <vector>

#include "device_under_test.h"
#include "work/golden_fill.h"

namespace assay::cuda {
namespace {

class CudaFillers : public WithGpu {};

TEST_F(CudaFillers, GiveTheBitsOfEveryOtherBackEnd) {
    const auto stream = device().create_stream();
    for (const auto& golden : work::kGoldenFill) {
        std::vector<unsigned char> bytes(work::kGoldenCount * work::size_of(golden.type));
        const auto buffer = device().allocate(bytes.size());
        device().need<ops::Fill>().enqueue(*stream, work::golden_spec(golden.distribution),
                                           golden.type, work::kGoldenCount, buffer->data());
        stream->synchronize();
        device().copy_out(bytes.data(), buffer->data(), bytes.size());
        EXPECT_EQ(work::fnv1a(bytes.data(), bytes.size()), golden.hash)
            << work::name(golden.distribution) << ' ' << work::name(golden.type);
    }
}

// Counts that end inside a group of four, and inside a block.
TEST_F(CudaFillers, WriteExactlyWhatIsAskedFor) {
    const auto stream = device().create_stream();
    const auto buffer = device().allocate(1 << 20);
    for (const std::uint64_t count : {1U, 2U, 3U, 5U, 1023U, 1025U, 100'003U}) {
        for (const auto type : {work::Type::fp32, work::Type::bf16, work::Type::int8}) {
            const std::size_t width = work::size_of(type);
            std::vector<unsigned char> bytes(count * width + 8, 0xA5);
            device().copy_in(buffer->data(), bytes.data(), bytes.size());
            const work::FillSpec spec{work::Distribution::uniform, 11, 3};
            device().need<ops::Fill>().enqueue(*stream, spec, type, count, buffer->data());
            stream->synchronize();
            auto expected = bytes;
            work::fill(spec, type, 0, count, expected.data());
            device().copy_out(bytes.data(), buffer->data(), bytes.size());
            EXPECT_EQ(bytes, expected) << count << ' ' << work::name(type);
        }
    }
}

}  // namespace
}  // namespace assay::cuda
