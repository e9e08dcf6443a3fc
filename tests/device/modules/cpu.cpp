// A processor to fall back to.
#include "device/module.h"
#include "support/fake_device.h"

namespace assay::device {
namespace {

class CpuModule final : public Module {
  public:
    std::vector<record::DeviceFacts> list(std::string&) override {
        auto facts = FakeDevice::fake_facts();
        facts.id = facts.kind = "cpu";
        return {facts};
    }
    std::unique_ptr<Device> open(int) override { return std::make_unique<FakeDevice>(); }
    std::vector<record::SoftwareFacts> software() override { return {}; }
};

}  // namespace
}  // namespace assay::device

extern "C" const assay::device::ModuleEntry assay_module;
const assay::device::ModuleEntry assay_module{
    assay::kModuleAbi, "cpu",
    []() -> assay::device::Module* { return new assay::device::CpuModule; }};
