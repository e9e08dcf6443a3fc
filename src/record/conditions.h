// Under what circumstances a result was made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::record {

struct Conditions {
    std::string protocol;
    // What computed it.
    std::string library;       // "oneDNN", "assay"
    std::string library_file;  // the file that was loaded
    std::string library_version;
    std::string algorithm;  // the library's own name for what it chose
    std::uint64_t workspace_bytes = 0;
    // What the device did meanwhile: medians over the sampling.
    std::optional<double> clock_mhz;
    std::string clock_source;  // how the clock was read, or why it could not be
    std::optional<double> power_w;
    std::string power_source;
    std::optional<double> energy_per_call_j;
    std::optional<double> temperature_c;
    std::vector<std::string> throttle_reasons;
    // How the sampling went.
    int calls_per_sample = 1;
    std::string stop_reason;      // "precise", "sample limit", "time limit", "interrupted"
    std::optional<bool> settled;  // sustained only: did the warm-up reach a steady rate
    std::optional<double> settle_s;
    std::uint64_t footprint_bytes = 0;  // what the operands rotate over
    int operand_sets = 1;
    int threads = 0;
    int compute_units = 0;  // that the device has for it: what a rate per unit and cycle divides by
    // Power cap, slider, flags, environment variables that matter, notes of the probe.
    std::map<std::string, std::string> settings;

    bool operator==(const Conditions&) const = default;
};

}  // namespace assay::record
