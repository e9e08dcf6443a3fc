// The bounds that a normal and a Student's t variable exceed, either way, in 5 % of cases.
#pragma once

namespace assay::stats {

inline constexpr double kNormalCritical95 = 1.959964;

// For 3 or more degrees of freedom, within 0.15 %: the first five terms of the expansion in
// 1 / degrees (Abramowitz and Stegun 26.7.5).
double student_critical_95(double degrees);

}  // namespace assay::stats
