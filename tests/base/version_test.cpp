#include "base/version.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

TEST(Version, IsThreeNumbers) {
    EXPECT_THAT(std::string(version()), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(Build, NamesBuildTypeAndCompiler) {
    EXPECT_THAT(std::string(build()), testing::MatchesRegex("[A-Za-z]+, [A-Za-z]+ [0-9.]+"));
}

}  // namespace
}  // namespace assay
