#include "work/philox.h"

#include <gmock/gmock.h>

namespace assay::work {
namespace {

// The known answers for philox4x32 with 10 rounds that its authors publish with Random123.
TEST(Philox, GivesThePublishedKnownAnswers) {
    EXPECT_THAT(philox({{0, 0, 0, 0}}, 0, 0).w,
                testing::ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
    constexpr std::uint32_t kOnes = 0xffffffff;
    EXPECT_THAT(philox({{kOnes, kOnes, kOnes, kOnes}}, kOnes, kOnes).w,
                testing::ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
    EXPECT_THAT(
        philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0).w,
        testing::ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

}  // namespace
}  // namespace assay::work
