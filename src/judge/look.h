// How rules and verdict look at a run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "record/finding.h"

namespace assay::judge {

// "gemm cpu boost m=512 n=512 k=512 dtype=fp32": how evidence names a result.
std::string place(const record::Result& result);

// A probe whose throughput counts what the matrix unit, or a CPU's vector unit, computes.
bool computes_products(const record::Result& result);

// The text of a case without one of its pairs: what cases that differ in it alone share.
std::string text_without(const record::Case& what, std::string_view pair);

// The metric's value where the result is ok and the value is a positive number.
std::optional<double> measured(const record::Result& result, std::string_view metric);

const record::DeviceFacts* device_facts(const Evidence& evidence, const std::string& device);

// The finite readings of one quantity of telemetry, empty when there are none.
std::vector<double> readings(const record::Launch& launch, const std::string& quantity);

// Highest clock that any reading of the result saw.
std::optional<double> highest_clock_mhz(const record::Result& result);

// Bandwidths of the device's main memory: `memory` cases on local nodes, at the largest size of
// their kernel, where the arrays are larger than the last-level cache.
std::vector<const record::Result*> main_memory(const Evidence& evidence, const std::string& device);

// A check of what is held on the device, not of an answer.
bool is_about_memory(const record::Check& check);

// "1 case", "3 cases"
std::string counted(std::size_t n, const std::string& noun);

// One finding for all cases of the same trouble: collects a line each.
class Lines {
  public:
    void add(const record::Result& result, const std::string& detail);
    void add(std::string line) { lines_.push_back(std::move(line)); }
    void append(const Lines& other);
    bool empty() const { return lines_.empty(); }

    // None without lines. `message` is made from how many lines there are. Beyond ten, evidence
    // says how many more: the results themselves hold them all.
    std::vector<record::Finding> finding(std::string_view rule, record::Severity severity,
                                         const std::function<std::string(std::size_t)>& message,
                                         std::string advice) const;

  private:
    std::vector<std::string> lines_;
};

}  // namespace assay::judge
