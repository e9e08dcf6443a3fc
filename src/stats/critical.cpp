#include "stats/critical.h"

namespace assay::stats {

double student_critical_95(double degrees) {
    constexpr double z = kNormalCritical95;
    constexpr double z2 = z * z;
    constexpr double g1 = z * (z2 + 1.0) / 4.0;
    constexpr double g2 = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    constexpr double g3 = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    constexpr double g4 =
        z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    const double v = degrees;
    return z + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v;
}

}  // namespace assay::stats
