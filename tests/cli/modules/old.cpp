// A module built against another core: nothing of it but the number may be looked at.
#include "device/module.h"

extern "C" const assay::device::ModuleEntry assay_module;
const assay::device::ModuleEntry assay_module{assay::kModuleAbi - 1, nullptr, nullptr};
