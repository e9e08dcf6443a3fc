// The OpenMP runtime that comes in with a vendor's library, told to pin one thread a core.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cpu/topology.h"

namespace assay::cpu {

// Environment variables for libgomp (GCC 12 manual, libgomp 4) that place one thread on each core.
// Its threads look for work for about 50 us after a call, then sleep: long enough to be awake for
// the next call, too short to disturb what else is measured on their cores.
std::map<std::string, std::string> openmp_settings(const std::vector<Core>& cores);

// Holds for its lifetime, during which the runtime must be loaded (it reads them then), those
// settings that the user hasn't made. They are taken back, or child processes would inherit them.
class OpenMpEnvironment {
  public:
    explicit OpenMpEnvironment(const std::vector<Core>& cores);
    ~OpenMpEnvironment();
    OpenMpEnvironment(const OpenMpEnvironment&) = delete;
    OpenMpEnvironment& operator=(const OpenMpEnvironment&) = delete;

    // What the user set, or that the runtime was loaded before; empty when the settings are ours.
    const std::string& note() const { return note_; }

  private:
    std::vector<std::string> set_;
    std::string note_;
};

}  // namespace assay::cpu
