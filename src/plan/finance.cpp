#include "plan/finance.h"

#include <cmath>

namespace assay::plan {

namespace {

constexpr double kMonthsPerYear = 12;

}  // namespace

double monthly_payment(double principal, double rate, double years) {
    const double months = kMonthsPerYear * years;
    const double i = rate / kMonthsPerYear;
    if (i == 0) return principal / months;
    // 1 - (1 + i)^-n without losing the digits of a small rate.
    return principal * i / -std::expm1(-months * std::log1p(i));
}

double capital_per_month(double price, const Financing& financing) {
    const double months = kMonthsPerYear * financing.years;
    const double discount = std::exp(-months * std::log1p(financing.rate / kMonthsPerYear));
    const double residual_today = financing.residual * price * discount;
    return monthly_payment(price - residual_today, financing.rate, financing.years);
}

double weighted_cost_of_capital(double debt_share, double debt_rate, double equity_rate,
                                double tax) {
    return debt_share * debt_rate * (1 - tax) + (1 - debt_share) * equity_rate;
}

}  // namespace assay::plan
