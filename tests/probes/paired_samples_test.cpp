#include "probes/paired_samples.h"

#include <map>

#include <gmock/gmock.h>

namespace assay::probes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

record::Launch launch_of(const std::map<std::string, std::vector<double>>& samples) {
    record::Launch launch;
    for (const auto& [name, values] : samples) launch.samples[name] = {"s", values};
    return launch;
}

TEST(PairedSamples, ArePooledOverTheLaunchesThatHoldBoth) {
    const auto pairs = paired_samples(
        {launch_of({{"new", {1, 2}}, {"old", {3, 4}}}), launch_of({{"new", {9}}}),
         launch_of({{"old", {9}}}), launch_of({{"new", {5}}, {"old", {6}}, {"other", {7, 8}}})},
        "new", "old");
    EXPECT_THAT(pairs.first, ElementsAre(1, 2, 5));
    EXPECT_THAT(pairs.second, ElementsAre(3, 4, 6));
}

TEST(PairedSamples, AreNoneWhereRoundsDontMatch) {
    // As many in all, but of other rounds.
    const auto pairs = paired_samples(
        {launch_of({{"new", {1, 2}}, {"old", {3}}}), launch_of({{"new", {4}}, {"old", {5, 6}}})},
        "new", "old");
    EXPECT_THAT(pairs.first, IsEmpty());
    EXPECT_THAT(pairs.second, IsEmpty());
    EXPECT_THAT(paired_samples({}, "new", "old").first, IsEmpty());
}

}  // namespace
}  // namespace assay::probes
