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
// Modules in the folders of ASSAY_MODULE_PATH (a colon list) and beside the program, not opened, in
// the order of their kinds. The first file of a kind wins.
std::vector<ModuleFile> find_modules();

// The module of a kind. Throws UsageError when there is no such module (lists those found), Error
// when it can't be loaded, has another ABI number or fails to start.
Module& open_module(std::string_view kind);

// Ids of the devices a spec means. "best" is the first device of the first accelerator that has one
// (cuda, hip, then others by name), else "cpu"; `passed_over` gets a line for each accelerator that
// was left out for a reason, such as a missing driver. Throws UsageError when there is no such
// device, saying why and how many there are.
std::vector<std::string> resolve_devices(std::string_view text,
                                         std::vector<std::string>* passed_over = nullptr);

// Opens one device by id. Throws UsageError as resolve_devices does.
std::unique_ptr<Device> open_device(std::string_view id);

}  // namespace assay::device
