// What the core finds in this library.
#include "device/module.h"

#include "base/error.h"
#include "cuda/cublas.h"
#include "cuda/cublaslt.h"
#include "cuda/cuda_device.h"
#include "cuda/cudnn/facts.h"
#include "cuda/facts.h"
#include "cuda/nvml.h"
#include "cuda/runtime_version.h"

namespace assay::cuda {
namespace {

// A library that can't be opened is a line of the inventory too.
template <class Library>
record::SoftwareFacts described(const char* name) {
    try {
        const auto& library = Library::instance();
        return {name, library.version(), library.file(), ""};
    } catch (const Unsupported& missing) {
        return {name, std::string("not loaded: ") + missing.what(), "", ""};
    }
}

class CudaModule : public device::Module {
  public:
    std::vector<record::DeviceFacts> list(std::string& why) override { return list_devices(why); }

    std::unique_ptr<device::Device> open(int index) override {
        std::string why;
        auto devices = list_devices(why);
        if (index < 0 || static_cast<std::size_t>(index) >= devices.size()) {
            throw UsageError("there is no device cuda:" + std::to_string(index) +
                                 (why.empty() ? "" : ": " + why),
                             "assay info lists the devices of this machine");
        }
        return std::make_unique<CudaDevice>(std::move(devices[static_cast<std::size_t>(index)]));
    }

    std::vector<record::SoftwareFacts> software() override {
        std::vector<record::SoftwareFacts> software{
            {"CUDA runtime", runtime_version(), "built in", ""},
            described<CublasLt>("cuBLASLt"),
            described<Cublas>("cuBLAS"),
            cudnn_facts(),
        };
        std::string why;
        if (const auto* nvml = Nvml::instance(why)) {
            software.push_back({"NVIDIA driver", nvml->driver_version(), nvml->file(), ""});
        }
        return software;
    }
};

}  // namespace
}  // namespace assay::cuda

extern "C" __attribute__((visibility("default"))) const assay::device::ModuleEntry assay_module{
    assay::kModuleAbi, "cuda",
    []() -> assay::device::Module* { return new assay::cuda::CudaModule; }};
