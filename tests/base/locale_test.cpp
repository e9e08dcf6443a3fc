// Nothing in base may follow a locale whose decimal separator is a comma.
#include <clocale>
#include <cstdlib>
#include <fstream>
#include <locale>
#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/toml.h"
#include "base/units.h"
#include "scratch.h"

namespace assay {
namespace {

constexpr int kNoSuchLocale = 77;

// For streams; C functions follow setlocale instead.
struct GermanNumbers : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

bool takes_comma(const char* locale) {
    return std::setlocale(LC_NUMERIC, locale) != nullptr &&
           std::localeconv()->decimal_point == std::string(",");
}

// Most containers have no such locale installed, but can make one in `folder`.
bool make_and_take_comma(const Scratch& folder) {
    std::ofstream(folder / "source") << "LC_NUMERIC\ncopy \"de_DE\"\nEND LC_NUMERIC\n";
    const auto command =
        fmt::format("localedef -c -i {0}/source -f ISO-8859-1 {0}/comma >/dev/null 2>&1",
                    folder.path().string());
    // The status tells of warnings too: whether the locale loads decides.
    [[maybe_unused]] const int status = std::system(command.c_str());
    setenv("LOCPATH", folder.path().c_str(), 1);
    return takes_comma("comma");
}

void check_numbers() {
    EXPECT_EQ(fmt::format("{:L}", 1.5), "1,5");

    EXPECT_EQ(parse_number("1.5", "x"), 1.5);
    EXPECT_THROW(parse_number("1,5", "x"), UsageError);
    EXPECT_EQ(parse_seconds("1.5m"), 90.0);
    EXPECT_EQ(exact_number(0.1), "0.1");
    EXPECT_EQ(format_number(1234567.0), "1234567");
    EXPECT_EQ(format_bytes(1536), "1.50 KiB");
    EXPECT_EQ(format_seconds(0.00123), "1.23 ms");
    EXPECT_EQ(size_label(1000), "1000");

    EXPECT_EQ(number_of(parse_json("1.5", "x")), 1.5);
    EXPECT_EQ(dump_line(Json(1234.5)), "1234.5");
    EXPECT_EQ(dump_line(Json(1234567)), "1234567");

    TomlDocument document;
    const auto toml = parse_toml("x = 1.5\nd = 2025-11-30T22:11:07.5Z", "x", document);
    EXPECT_EQ(toml["x"], 1.5);
    EXPECT_EQ(toml["d"], "2025-11-30T22:11:07.5Z");
}

// In a child, because a locale belongs to the whole process.
TEST(DecimalComma, ChangesNothing) {
    const Scratch folder;
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (!takes_comma("de_DE.UTF-8") && !make_and_take_comma(folder)) std::_Exit(kNoSuchLocale);
        std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
        check_numbers();
        std::fflush(stdout);
        std::_Exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoSuchLocale) GTEST_SKIP() << "no locale with a decimal comma here";
    EXPECT_EQ(WEXITSTATUS(status), EXIT_SUCCESS);
}

}  // namespace
}  // namespace assay
