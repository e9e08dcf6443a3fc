#include "crew/lines.h"

#include <gtest/gtest.h>

namespace assay::crew {
namespace {

TEST(Lines, ComeWholeHoweverTheBytesWereCut) {
    const std::string text = "one\n\nthree is longer\nrest";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        Lines lines;
        std::string seen;
        for (std::size_t at = 0; at < text.size(); at += step) {
            lines.append(std::string_view(text).substr(at, step));
            while (const auto line = lines.next()) seen += "[" + *line + "]";
        }
        EXPECT_EQ(seen, "[one][][three is longer]");
        EXPECT_EQ(lines.pending(), 4U);
        EXPECT_EQ(lines.next(), std::nullopt);
    }
}

}  // namespace
}  // namespace assay::crew
