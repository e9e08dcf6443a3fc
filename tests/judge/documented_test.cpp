#include <filesystem>

#include <gmock/gmock.h>

#include "base/files.h"
#include "judge/rule.h"

namespace assay::judge {
namespace {

TEST(Rules, StandInTheMethod) {
    const auto method = read_file(std::filesystem::path(ASSAY_SOURCE_DIR) / "docs/method.md");
    for (const auto& rule : rules()) {
        EXPECT_THAT(method, testing::HasSubstr("| " + std::string(rule.id) + " |"));
    }
}

}  // namespace
}  // namespace assay::judge
