// A run made by hand, with one result of every kind.
#pragma once

#include <limits>

#include "record/run.h"

namespace assay::report {

inline record::Metric bandwidth(double value, double half_width) {
    record::Metric metric;
    metric.name = "bandwidth";
    metric.unit = "GB/s";
    metric.better = record::Better::higher;
    metric.definition = "bytes / time";
    metric.value = value;
    metric.interval = {value - half_width, value + half_width};
    metric.n = 120;
    metric.effective_n = 100.5;
    metric.steady = true;
    metric.trustworthy = true;
    return metric;
}

inline record::Result result_of(const std::string& probe, const std::string& size) {
    record::Result result;
    result.probe = probe;
    result.device = "cpu";
    result.what.set("op", "copy").set("size", size).set("nodes", "local", "local");
    result.conditions.protocol = "boost";
    return result;
}

inline record::Run sample_run() {
    record::Run run;
    run.id = "01JE00000000000000000000AB";

    auto ok = result_of("memory", "1M");
    ok.path = record::Path::portable;
    ok.conditions.clock_mhz = 2600.4;
    ok.metrics = {bandwidth(12.3456, 0.0625)};
    auto time = ok.metrics[0];
    time.name = "time";
    time.unit = "s";
    time.value = 1.5e-3;
    time.interval = {1.4e-3, 1.6e-3};
    ok.metrics.push_back(time);

    auto doubtful = result_of("memory", "1G");
    doubtful.path = record::Path::portable;
    doubtful.metrics = {bandwidth(8, 0.4)};
    doubtful.metrics[0].trustworthy = false;
    doubtful.metrics[0].effective_n.reset();

    auto skipped = result_of("memory", "64T");
    skipped.status = record::Status::skipped;
    skipped.reason = "2 arrays of 64T need 128 TiB, and \"5 GiB\" are free";

    auto failed = result_of("gemm", "7");
    failed.what.set("layer", "qkv", "qkv");
    failed.status = record::Status::failed;
    failed.reason = "died of SIGSEGV (segmentation fault)";

    auto unknown = result_of("gemm", "8");
    unknown.metrics = {bandwidth(std::numeric_limits<double>::quiet_NaN(), 0)};
    unknown.metrics[0].interval.reset();

    auto checks_only = result_of("selftest", "9");
    checks_only.checks = {{"a", true, ""}, {"b", true, ""}};

    run.results = {ok, failed, doubtful, skipped, unknown, checks_only};
    return run;
}

}  // namespace assay::report
