#include "base/time.h"

#include <chrono>
#include <ctime>
#include <thread>

#include <gmock/gmock.h>

namespace assay {
namespace {

TEST(UtcNow, IsTheSystemClockInIso8601) {
    const auto before = std::time(nullptr);
    const auto text = utc_now();
    const auto after = std::time(nullptr);

    std::tm fields{};
    const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &fields);
    ASSERT_NE(end, nullptr) << text;
    EXPECT_EQ(*end, '\0') << text;
    EXPECT_EQ(text.size(), 20U);
    const auto read = timegm(&fields);
    EXPECT_GE(read, before);
    EXPECT_LE(read, after);
}

TEST(UtcNow, TakesNoNoticeOfTheTimeZone) {
    const char* zone = getenv("TZ");
    const std::string saved = zone != nullptr ? zone : "";
    setenv("TZ", "XXX-12", 1);
    tzset();
    const auto elsewhere = utc_now();
    zone != nullptr ? setenv("TZ", saved.c_str(), 1) : unsetenv("TZ");
    tzset();

    std::tm fields{};
    ASSERT_NE(strptime(elsewhere.c_str(), "%Y-%m-%dT%H:%M:%SZ", &fields), nullptr);
    EXPECT_LE(std::time(nullptr) - timegm(&fields), 3600);
    EXPECT_GE(std::time(nullptr), timegm(&fields));
}

TEST(MonotonicSeconds, CountsSeconds) {
    const auto before = monotonic_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const auto passed = monotonic_seconds() - before;
    EXPECT_GE(passed, 0.010);
    EXPECT_LT(passed, 10);
}

}  // namespace
}  // namespace assay
