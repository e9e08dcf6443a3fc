// data/accelerators.toml: what makers say their accelerators do, with the source of each figure.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/device_facts.h"

namespace assay::catalog {

struct Figure {
    double value = 0;
    std::optional<double> mhz;  // of a peak: the clock at which it holds
    std::string source;
    bool secondary = false;  // read in a third party's excerpt
};
// Of one quantity; the first counts. Several where sources differ, none where it is unknown.
using Figures = std::vector<Figure>;

// "sources differ: 7.7 to 8" in units of `scale`, "" where they agree.
std::string disagreement(const Figures& figures, double scale);

// One compute unit (SM, CU).
struct Unit {
    std::string name;
    std::map<std::string, double> flop_per_cycle;  // dense, by operand type; "fp8" for all of them
    std::string e4m3;                              // "fn", "fnuz", "" without fp8
    std::string source;
    bool secondary = false;
};

struct Accelerator {
    std::string name;
    std::string kind;                // "cuda", "hip"
    std::vector<std::string> names;  // as the device spells itself
    // What else tells it, where it can be told: "9.0", "gfx942".
    std::string architecture;
    std::optional<int> compute_units;
    std::optional<std::pair<double, double>> memory_range;  // bytes that such devices report
    Unit unit;
    std::map<std::string, Figures> peak;  // FLOP/s, dense, by operand type
    Figures memory;                       // bytes
    Figures bandwidth;                    // B/s
    Figures link;                         // scale-up, B/s in one direction
    int domain = 1;                       // devices that the link joins
    std::string topology;                 // "switched", "mesh", "bridge"
    Figures power;                        // W

    // Each quantity whose sources differ, as "bandwidth: 8 TB/s (SOURCE), 7.7 TB/s (SOURCE)".
    std::vector<std::string> contradictions() const;
};

// Throws UsageError "file:line:column: reason" for what is malformed, misses or isn't known.
std::vector<Accelerator> load_accelerators(const std::filesystem::path& file);

// By name, else by architecture (facts "compute_capability", or features), compute units and
// memory, where one row alone fits.
struct Found {
    const Accelerator* row = nullptr;
    std::string how;  // "by name", "by compute capability 9.0, 132 SMs and memory"; or why not
};
Found find_accelerator(const std::vector<Accelerator>& accelerators,
                       const record::DeviceFacts& facts);

// The key in Unit and peak of an operand type: fp8_e4m3fn and fp8_e5m2 are "fp8" where the device's
// e4m3 is OCP's, fp8_e4m3fnuz where it is fnuz. None where the device lacks the type by its
// flavour.
std::optional<std::string> catalog_type(const std::string& operand_type, const std::string& e4m3);

}  // namespace assay::catalog
