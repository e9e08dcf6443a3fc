// What one case gave.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/case.h"
#include "record/conditions.h"
#include "record/metric.h"
#include "record/path.h"

namespace assay::record {

enum class Status { ok, failed, skipped };

std::string_view name(Status status);
Status parse_status(std::string_view word);  // throws Error

struct Samples {
    std::string unit;
    std::vector<double> values;  // every raw sample, in order

    bool operator==(const Samples&) const = default;
};

// One process's samples of a case.
struct Launch {
    int index = 0;
    std::int64_t pid = 0;
    std::string started;                                   // UTC
    std::map<std::string, Samples> samples;                // "time" in s for one call
    std::map<std::string, std::vector<double>> telemetry;  // "t" in s, "clock_mhz", "power_w", ...

    bool operator==(const Launch&) const = default;
};

// A curve: a latency distribution, a sweep, a roofline.
struct Series {
    std::string name;
    std::string unit_x, unit_y;
    std::vector<double> x, y;

    bool operator==(const Series&) const = default;
};

struct Check {
    std::string name;
    bool passed = false;
    std::string detail;

    bool operator==(const Check&) const = default;
};

struct Result {
    std::string probe;
    std::string device;  // "cpu", "cuda:0"
    Case what;           // "case" in JSON
    Status status = Status::ok;
    std::string reason;  // why it failed or was skipped: one line
    Path path = Path::unknown;
    Conditions conditions;
    std::vector<Launch> launches;
    std::vector<Metric> metrics;
    std::vector<Series> series;
    std::vector<Check> checks;

    // "gemm cpu boost m=... ": probe, device kind (index dropped), protocol, case.
    std::string identity() const;
    const Metric* metric(std::string_view metric_name) const;  // null when it has none
    bool operator==(const Result&) const = default;
};

}  // namespace assay::record
