#include "cpu/fill.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "device_under_test.h"

namespace assay::cpu {
namespace {

TEST(CpuFill, GivesTheBytesOfWorkFill) {
    auto& device = device_under_test();
    const auto stream = device.create_stream();
    const std::uint64_t count = 100'003;
    for (const work::Type type : {work::Type::fp64, work::Type::fp32, work::Type::bf16,
                                  work::Type::int8, work::Type::int32}) {
        for (const work::Distribution distribution :
             {work::Distribution::normal, work::Distribution::uniform, work::Distribution::ints}) {
            const work::FillSpec spec{.distribution = distribution, .seed = 5, .stream = 2};
            const std::size_t bytes = count * work::size_of(type);
            const auto buffer = device.allocate(bytes);
            device.need<ops::Fill>().enqueue(*stream, spec, type, count, buffer->data());
            stream->synchronize();
            std::vector<std::byte> expected(bytes);
            work::fill(spec, type, 0, count, expected.data());
            EXPECT_EQ(std::memcmp(buffer->data(), expected.data(), bytes), 0)
                << work::name(type) << ' ' << work::name(distribution);
        }
    }
}

}  // namespace
}  // namespace assay::cpu
