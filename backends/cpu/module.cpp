// What the core finds in this library.
#include "device/module.h"

#include "base/error.h"
#include "cpu/cpu_device.h"
#include "cpu/facts.h"
#include "cpu/onednn.h"

namespace assay::cpu {
namespace {

class CpuModule : public device::Module {
  public:
    std::vector<record::DeviceFacts> list(std::string& why) override {
        why.clear();
        const Topology topology;
        return {read_facts(topology, usable_cores(topology))};
    }

    std::unique_ptr<device::Device> open(int index) override {
        if (index != 0) {
            throw UsageError("unknown device \"cpu:" + std::to_string(index) + "\"",
                             "there is one: cpu (its NUMA nodes are parts of it)");
        }
        return std::make_unique<CpuDevice>();
    }

    std::vector<record::SoftwareFacts> software() override {
        try {
            const Topology topology;
            const OneDnn& library = OneDnn::instance(usable_cores(topology));
            return {{"oneDNN", library.version(), library.file(), ""}};
        } catch (const Unsupported& missing) {
            return {{"oneDNN", std::string("not loaded: ") + missing.what(), "", ""}};
        }
    }
};

}  // namespace
}  // namespace assay::cpu

extern "C" __attribute__((visibility("default"))) const assay::device::ModuleEntry assay_module{
    assay::kModuleAbi, "cpu", []() -> assay::device::Module* { return new assay::cpu::CpuModule; }};
