#include "stats/critical.h"

#include <utility>

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

TEST(StudentCritical, AgreesWithTheTable) {
    const std::pair<double, double> table[] = {
        {3, 3.1824},  {4, 2.7764},  {5, 2.5706},  {6, 2.4469},
        {10, 2.2281}, {30, 2.0423}, {85, 1.9883}, {1e6, kNormalCritical95}};
    for (const auto& [degrees, critical] : table) {
        EXPECT_NEAR(student_critical_95(degrees), critical, 1.5e-3 * critical) << degrees;
    }
}

}  // namespace
}  // namespace assay::stats
