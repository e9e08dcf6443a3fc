// What money costs over time.
#pragma once

namespace assay::plan {

// Costs are spread over a twelfth of a year's 8,760 hours (input hours_per_month: 730). Some
// published calculators bill months of 30 days.
inline constexpr double kHoursPerThirtyDays = 720;

// How a purchase is paid back.
struct Financing {
    double rate = 0;      // cost of capital a year, nominal: a month costs a twelfth of it
    double years = 0;     // economic life
    double residual = 0;  // share of the price that is left at its end
};

// The payment at each month's end that pays `principal` back in n = 12 years months: an ordinary
// annuity, P i / (1 - (1 + i)^-n) with i = rate/12; P/n where the rate is 0.
double monthly_payment(double principal, double rate, double years);

// Of a purchase whose residual value is worth (1 + i)^-n of itself today.
double capital_per_month(double price, const Financing& financing);

// WACC: shares of debt and equity at their cost, debt after tax.
double weighted_cost_of_capital(double debt_share, double debt_rate, double equity_rate,
                                double tax);

}  // namespace assay::plan
