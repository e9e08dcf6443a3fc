// What failures cost a job that keeps checkpoints. Times in seconds unless said otherwise.
#pragma once

#include <cstdint>

namespace assay::plan {

// Mean time between failures of a job on `nodes` nodes, hours: 24,000/(nodes x rate), with the rate
// in failures per 1000 node-days. A rate seen on large jobs says little about small ones, which
// fail for other reasons (Kokolis et al., HPCA 2025: 7.9 h measured where 28.8 h follow).
double job_mtbf_hours(std::int64_t nodes, double failures_per_1000_node_days);

// Until the first of `parts` equal parts fails, in the unit of `mttf`.
double first_failure(double mttf, double parts);

// A job's failures: mtbf between them, `restart` lost to each, `write` to each checkpoint.
struct Failures {
    double mtbf = 0;
    double restart = 0;
    double write = 0;
};

// The interval between checkpoints. Young 1974: sqrt(2 write mtbf).
double young_interval(const Failures& failures);
// Most available: write + sqrt(2 (mtbf + restart) write + write^2) (arXiv 2410.18124).
double availability_interval(const Failures& failures);
// The same in training steps: sqrt(2 (mtbf + restart) write)/step (changlan.org).
double steps_between_checkpoints(const Failures& failures, double step);
// Daly 2006: sqrt(2 write mtbf)(1 + sqrt(write/2mtbf)/3 + write/18mtbf) - write; mtbf where the
// write takes twice that.
double daly_interval(const Failures& failures);

// Share of time lost, to first order: write/interval + (interval/2 + restart)/mtbf. Holds while it
// is small: it may pass 1.
double first_order_loss(const Failures& failures, double interval);
// Daly's exact time: mtbf e^(restart/mtbf) (e^((interval + write)/mtbf) - 1)/interval of wall time
// for each second of work. Below 1.
double daly_loss(const Failures& failures, double interval);

struct Loss {
    double share = 0;     // of time, to checkpoints, lost work and restarts
    double interval = 0;  // between checkpoints
    bool exact = false;   // by Daly's time, since the first order is above kFirstOrderLimit
};
inline constexpr double kFirstOrderLimit = 0.20;
// At Young's interval to first order, or at Daly's.
Loss expected_loss(const Failures& failures);

}  // namespace assay::plan
