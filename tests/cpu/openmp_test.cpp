#include "cpu/openmp.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::cpu {
namespace {

TEST(OpenMp, SettingsPinOneThreadACore) {
    const auto settings = openmp_settings({{{0}, 0}, {{2}, 0}, {{5}, 1}});
    EXPECT_EQ(settings.at("OMP_NUM_THREADS"), "3");
    EXPECT_EQ(settings.at("OMP_PLACES"), "{0},{2},{5}");
}

// Each in a fresh process: in this one oneDNN may have brought the runtime in already.
void expect_in_child(bool (*holds)()) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(std::exit(holds() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST(OpenMp, HoldsItsSettingsAndTakesThemBack) {
    expect_in_child([] {
        for (const auto& [name, value] : openmp_settings({})) unsetenv(name.c_str());
        unsetenv("OMP_WAIT_POLICY");
        {
            const OpenMpEnvironment environment({{{0}, 0}});
            const char* threads = std::getenv("OMP_NUM_THREADS");
            if (threads == nullptr || std::string(threads) != "1") return false;
            if (!environment.note().empty()) return false;
        }
        return std::getenv("OMP_NUM_THREADS") == nullptr;
    });
}

TEST(OpenMp, TheUsersSettingsWinAndAreNoted) {
    expect_in_child([] {
        setenv("OMP_NUM_THREADS", "7", 1);
        setenv("OMP_WAIT_POLICY", "passive", 1);
        unsetenv("GOMP_SPINCOUNT");
        {
            const OpenMpEnvironment environment({{{0}, 0}});
            if (environment.note().find("OMP_NUM_THREADS=7") == std::string::npos) return false;
            if (environment.note().find("OMP_WAIT_POLICY=passive") == std::string::npos)
                return false;
            if (std::getenv("GOMP_SPINCOUNT") != nullptr) return false;
        }
        return std::string(std::getenv("OMP_NUM_THREADS")) == "7";
    });
}

}  // namespace
}  // namespace assay::cpu
