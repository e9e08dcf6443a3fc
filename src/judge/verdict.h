// The end of a run: what the machine delivers, of what it promises, and what is wrong with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "record/finding.h"

namespace assay::judge {

// The best measured value of one quantity under one protocol.
struct Delivered {
    std::string device;
    std::string quantity;  // "fp32 matrix product", "bf16 attention forward", "memory read",
                           // "transfer host_to_device"
    double value = 0;
    std::string unit;
    std::string case_text;               // where it was reached
    std::optional<double> promised;      // same unit: an accelerator's datasheet, else the peak
    std::string promise_basis;           // or why it is unknown
    std::optional<double> clock_allows;  // same unit: per-cycle rate times the clock seen meanwhile
    std::string clock_basis;
    std::string protocol = {};  // "boost", "sustained"
    // What others measured of the same work, in the same unit.
    std::vector<catalog::Published> published = {};
};

struct Verdict {
    std::vector<Delivered> delivered;
    std::string headline;                // one line
    std::string published_problem = {};  // why nothing published is beside it, if it can't be read
};

// Products with constant or whole-numbered inputs, which cost less power, aren't delivered.
Verdict conclude(const Evidence& evidence, const std::vector<record::Finding>& findings);

}  // namespace assay::judge
