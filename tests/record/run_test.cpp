#include "record/run.h"

#include <chrono>
#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace assay::record {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

std::int64_t milliseconds_now() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

TEST(RunId, Has26CrockfordDigits) {
    const std::string id = new_run_id();
    EXPECT_EQ(id.size(), 26u);
    EXPECT_EQ(id.find_first_not_of(kDigits), std::string::npos);
}

TEST(RunId, HoldsTheTime) {
    const auto before = milliseconds_now();
    const std::string id = new_run_id();
    const auto after = milliseconds_now();
    std::int64_t time = 0;
    for (const char digit : id.substr(0, 10)) {
        time = time * 32 + static_cast<std::int64_t>(kDigits.find(digit));
    }
    EXPECT_GE(time, before);
    EXPECT_LE(time, after);
}

TEST(RunId, SortsByTime) {
    std::string last = new_run_id();
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const std::string next = new_run_id();
        EXPECT_LT(last, next);
        last = next;
    }
}

TEST(RunId, IsUnique) {
    std::set<std::string> ids;
    for (int i = 0; i < 10'000; ++i) ids.insert(new_run_id());
    EXPECT_EQ(ids.size(), 10'000u);
}

}  // namespace
}  // namespace assay::record
