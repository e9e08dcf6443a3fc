#include "report/text_table.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

using Align = TextTable::Align;

TEST(TextTable, AlignsColumnsAndEndsLinesWithoutSpace) {
    TextTable table({{"case", Align::left}, {"value", Align::right}, {"", Align::left}});
    table.add({"a", "1.5", "GB/s"});
    table.add({"longer", "12345.5", ""});
    EXPECT_EQ(table.text(),
              "  case      value\n"
              "  a           1.5  GB/s\n"
              "  longer  12345.5\n");
}

TEST(TextTable, LeavesOutColumnsThatAreEmptyInEveryRow) {
    TextTable table({{"case", Align::left}, {"power", Align::right}, {"path", Align::left}});
    table.add({"a", "", "fast"});
    EXPECT_EQ(table.text(0),
              "case  path\n"
              "a     fast\n");
}

TEST(TextTable, CountsCharactersNotBytes) {
    TextTable table({{"95 %", Align::left}, {"n", Align::right}});
    table.add({"±0.5 %", "100"});
    table.add({"0.5 %", "7"});
    EXPECT_EQ(table.text(0),
              "95 %      n\n"
              "±0.5 %  100\n"
              "0.5 %     7\n");
}

TEST(TextTable, TitlesCountToo) {
    TextTable table({{"a long title", Align::right}});
    table.add({"1"});
    EXPECT_EQ(table.text(0), "a long title\n           1\n");
}

TEST(TextTable, KnowsWhetherItHasRows) {
    TextTable table({{"case", Align::left}});
    EXPECT_TRUE(table.empty());
    table.add({"a"});
    EXPECT_FALSE(table.empty());
}

TEST(DisplayWidth, CountsCodePoints) {
    EXPECT_EQ(display_width(""), 0u);
    EXPECT_EQ(display_width("abc"), 3u);
    EXPECT_EQ(display_width("±µ→"), 3u);
}

}  // namespace
}  // namespace assay::report
