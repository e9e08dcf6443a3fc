#include "plan/reliability.h"

#include <cmath>

namespace assay::plan {

double job_mtbf_hours(std::int64_t nodes, double failures_per_1000_node_days) {
    return 24'000 / (static_cast<double>(nodes) * failures_per_1000_node_days);
}

double first_failure(double mttf, double parts) {
    return mttf / parts;
}

double young_interval(const Failures& failures) {
    return std::sqrt(2 * failures.write * failures.mtbf);
}

double availability_interval(const Failures& failures) {
    const auto [mtbf, restart, write] = failures;
    return write + std::sqrt(2 * (mtbf + restart) * write + write * write);
}

double steps_between_checkpoints(const Failures& failures, double step) {
    return std::sqrt(2 * (failures.mtbf + failures.restart) * failures.write) / step;
}

double daly_interval(const Failures& failures) {
    if (failures.write >= 2 * failures.mtbf) return failures.mtbf;
    const double part = failures.write / (2 * failures.mtbf);
    return young_interval(failures) * (1 + std::sqrt(part) / 3 + part / 9) - failures.write;
}

double first_order_loss(const Failures& failures, double interval) {
    return failures.write / interval + (interval / 2 + failures.restart) / failures.mtbf;
}

double daly_loss(const Failures& failures, double interval) {
    const auto [mtbf, restart, write] = failures;
    const double wall = mtbf * std::exp(restart / mtbf) * std::expm1((interval + write) / mtbf);
    return 1 - interval / wall;
}

Loss expected_loss(const Failures& failures) {
    Loss loss;
    loss.interval = young_interval(failures);
    loss.share = first_order_loss(failures, loss.interval);
    if (loss.share <= kFirstOrderLimit) return loss;
    loss.exact = true;
    loss.interval = daly_interval(failures);
    loss.share = daly_loss(failures, loss.interval);
    return loss;
}

}  // namespace assay::plan
