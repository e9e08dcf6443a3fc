// A module that fails to start with the error of the core's, or with any other exception when the
// environment says so.
#include <cstdlib>
#include <stdexcept>

#include "base/error.h"
#include "device/module.h"

namespace {

assay::device::Module* create() {
    if (std::getenv("ASSAY_TEST_FOREIGN") != nullptr) throw std::runtime_error("out of\nhandles");
    throw assay::Unsupported("no driver", "install one");
}

}  // namespace

extern "C" const assay::device::ModuleEntry assay_module;
const assay::device::ModuleEntry assay_module{assay::kModuleAbi, "throws", create};
