#include "measure/protocol.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::measure {
namespace {

TEST(Protocol, EveryNameParsesToTheProtocolOfThatName) {
    ASSERT_EQ(protocol_names().size(), 3u);
    for (const auto& name : protocol_names()) EXPECT_EQ(parse_protocol(name).name, name);
    EXPECT_EQ(parse_protocol("boost"), boost());
    EXPECT_EQ(parse_protocol("sustained"), sustained());
    EXPECT_EQ(parse_protocol("article"), article());
}

TEST(Protocol, AnUnknownNameIsAUsageErrorThatNamesItAndAKnownOne) {
    try {
        parse_protocol("bost");
        FAIL() << "must throw";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("bost"), std::string::npos);
        EXPECT_NE(error.hint().find("boost"), std::string::npos);
    }
    EXPECT_THROW(parse_protocol(""), UsageError);
}

}  // namespace
}  // namespace assay::measure
