// Where a run comes from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/device_facts.h"

namespace assay::record {

// public stable, public nightly, custom image or work-in-progress build: results carry the class.
struct SoftwareFacts {
    std::string name, version, file, software_class;

    bool operator==(const SoftwareFacts&) const = default;
};

struct Provenance {
    std::string host;
    std::string system;     // distribution and kernel
    std::string container;  // "docker", "none", ...
    std::string program_version;
    std::string program_build;
    std::vector<DeviceFacts> devices;
    std::vector<SoftwareFacts> software;
    // Environment variables and system settings that can change a number.
    std::map<std::string, std::string> settings;

    bool operator==(const Provenance&) const = default;
};

// Host, system, container, program and settings of this process; devices and software are added by
// whoever opened them.
Provenance collect_provenance();

// Adds the devices of `more`, and its software that isn't there yet.
void add(Provenance& provenance, const Provenance& more);

}  // namespace assay::record
