// What a back end exports. A module is a shared library libassay_KIND.so with one C symbol,
// `assay_module`, of type ModuleEntry.
#pragma once

#include <memory>
#include <vector>

#include "base/version.h"
#include "device/device.h"
#include "record/provenance.h"

namespace assay::device {

class Module {
  public:
    virtual ~Module() = default;
    // Devices of this kind, in the order of their indices; empty when there is none. `why` is set
    // when that has a reason the user can act on (no driver, too old, ...).
    virtual std::vector<record::DeviceFacts> list(std::string& why) = 0;
    virtual std::unique_ptr<Device> open(int index) = 0;
    // Libraries this module may use, opened or not: name, version, file.
    virtual std::vector<record::SoftwareFacts> software() = 0;
};

struct ModuleEntry {
    int abi;           // kModuleAbi at the module's compile time: read before anything else
    const char* kind;  // "cpu"
    Module* (*create)();
};

}  // namespace assay::device
