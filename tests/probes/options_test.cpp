#include "probes/options.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "probes/probe.h"

namespace assay::probes {
namespace {

Options two() {
    return Options({{"size", "64K", "SIZE", "bytes"}, {"sweep", "", "RANGE", "a range"}});
}

TEST(Options, GiveTheDefaultUntilSet) {
    auto options = two();
    EXPECT_EQ(options.at("size"), "64K");
    EXPECT_EQ(options.at("sweep"), "");
    options.set("size", "1M");
    EXPECT_EQ(options.at("size"), "1M");
}

TEST(Options, RefuseAnUnknownNameAndTellTheNearest) {
    auto options = two();
    for (const bool setting : {true, false}) {
        try {
            if (setting)
                options.set("sise", "1M");
            else
                options.at("sise");
            FAIL() << "an unknown option was taken";
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find("\"sise\""), std::string::npos);
            EXPECT_NE(error.hint().find("size"), std::string::npos);
        }
    }
    EXPECT_TRUE(options.values().empty());
}

TEST(Registry, FindsEveryProbeByItsName) {
    for (const Probe* probe : all_probes()) {
        EXPECT_EQ(&find_probe(probe->name()), probe);
        EXPECT_FALSE(probe->summary().empty());
        EXPECT_FALSE(probe->examples().empty());
    }
}

TEST(Registry, RefusesAnUnknownProbeAndTellsTheNearest) {
    try {
        find_probe("gem");
        FAIL() << "an unknown probe was found";
    } catch (const UsageError& error) {
        EXPECT_NE(error.hint().find("gemm"), std::string::npos) << error.hint();
    }
}

}  // namespace
}  // namespace assay::probes
