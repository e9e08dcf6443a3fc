// A module that finds no device, and says why.
#include "device/module.h"

namespace assay::device {
namespace {

class NoneModule final : public Module {
  public:
    std::vector<record::DeviceFacts> list(std::string& why) override {
        why = "the driver is too old: 470 found,\n580 needed";
        return {};
    }
    std::unique_ptr<Device> open(int) override { throw Unsupported("no device"); }
    std::vector<record::SoftwareFacts> software() override { return {}; }
};

}  // namespace
}  // namespace assay::device

extern "C" const assay::device::ModuleEntry assay_module;
const assay::device::ModuleEntry assay_module{
    assay::kModuleAbi, "none",
    []() -> assay::device::Module* { return new assay::device::NoneModule; }};
