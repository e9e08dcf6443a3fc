#include "record/provenance.h"

#include <algorithm>
#include <array>
#include <climits>

#include <unistd.h>

#include "base/version.h"
#include "record/host.h"

namespace assay::record {

namespace {

std::string host_name() {
    std::array<char, HOST_NAME_MAX + 1> buffer{};
    // The last byte stays zero: a name that is cut short isn't terminated.
    return gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "";
}

}  // namespace

Provenance collect_provenance() {
    const Settings environment = process_environment();
    Provenance provenance;
    provenance.host = host_name();
    provenance.system = system_name("/");
    provenance.container = container_kind("/", environment);
    provenance.program_version = version();
    provenance.program_build = build();
    provenance.settings = kernel_settings("/");
    provenance.settings.merge(environment_settings(environment));
    return provenance;
}

void add(Provenance& provenance, const Provenance& more) {
    provenance.devices.insert(provenance.devices.end(), more.devices.begin(), more.devices.end());
    for (const auto& software : more.software) {
        if (std::ranges::find(provenance.software, software) == provenance.software.end()) {
            provenance.software.push_back(software);
        }
    }
}

}  // namespace assay::record
