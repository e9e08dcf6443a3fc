// Finds modules and opens devices. A module is opened on first use of its kind and stays open.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/module.h"

namespace assay::device {

// "cpu", "cuda:0", "cuda:all", "best".
struct DeviceSpec {
    std::string kind;  // "" for best
    int index = 0;     // -1 for all
};
// Throws UsageError for anything else; the kind isn't checked here.
DeviceSpec parse_device(std::string_view text);

struct ModuleFile {
    std::string kind, file;
};
// Modules beside the program or on ASSAY_MODULE_PATH (first wins), not opened.
std::vector<ModuleFile> find_modules();

// The module of a kind. Throws UsageError when there is no such module (lists those found), Error
// when it can't be loaded or has another ABI number.
Module& open_module(std::string_view kind);

// Ids of the devices a spec means, "best" being the first accelerator, else "cpu". Throws
// UsageError when there is none.
std::vector<std::string> resolve_devices(std::string_view text);

// Opens one device by id.
std::unique_ptr<Device> open_device(std::string_view id);

}  // namespace assay::device
