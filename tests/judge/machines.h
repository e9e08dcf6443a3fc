// Scripted machines: what a run of the quick suite gives on each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record/run.h"

namespace assay::judge {

struct Machine {
    std::string name;
    std::function<record::Run()> run;
};

// An EPYC 9354 with all channels populated, and the same machine with one thing wrong.
const std::vector<Machine>& machines();

record::Run good_machine();

// One H200, boost and sustained, as an H200 was measured on 30 November 2026.
record::Run h200_machine();

// A result of the good machine, to be changed: the first of that probe and operand type or kernel.
record::Result& result_of(record::Run& run, const std::string& probe, const std::string& kind);

}  // namespace assay::judge
