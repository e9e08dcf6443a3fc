// A run as text: a table for people, JSON or CSV for programs.
#pragma once

#include <string>
#include <string_view>

#include "judge/verdict.h"
#include "record/run.h"

namespace assay::report {

enum class Format { table, json, csv };

Format parse_format(std::string_view word);  // throws UsageError

// Results in tables by probe (one row a result: its case, the first metric with interval, path,
// clock, samples), failed and skipped ones with their reason; below them what differences between
// protocols and algorithms are made of, and speed by inputs.
std::string results_table(const record::Run& run);
// What was delivered of what was promised, the findings, the headline.
std::string verdict_text(const judge::Verdict& verdict,
                         const std::vector<record::Finding>& findings);
// Devices, caches, memory, software, settings, promises.
std::string inventory_text(const record::Run& run);
// The document assay/1, one line a document.
std::string json_text(const record::Run& run);
// One row a metric: run, probe, device, protocol, case, status, reason, path, metric, value, unit,
// interval, n, effective n. RFC 4180.
std::string csv_text(const record::Run& run);

}  // namespace assay::report
