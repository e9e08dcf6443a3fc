// A module in order: two devices, the second of which is lost.
#include "device/module.h"
#include "support/fake_device.h"

namespace assay::device {
namespace {

class FakeModule final : public Module {
  public:
    std::vector<record::DeviceFacts> list(std::string&) override {
        auto first = FakeDevice::fake_facts(), second = first;
        second.id = "fake:1";
        return {first, second};
    }
    std::unique_ptr<Device> open(int index) override {
        if (index == 1) throw DeviceLost("fake:1 fell off the bus", "restart it");
        return std::make_unique<FakeDevice>();
    }
    std::vector<record::SoftwareFacts> software() override { return {{"fake", "1", "", ""}}; }
};

}  // namespace
}  // namespace assay::device

extern "C" const assay::device::ModuleEntry assay_module;
const assay::device::ModuleEntry assay_module{
    assay::kModuleAbi, "fake",
    []() -> assay::device::Module* { return new assay::device::FakeModule; }};
