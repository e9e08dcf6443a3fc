#include "device/module.h"

#include <memory>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::cpu {
namespace {

class CpuModuleFile : public testing::Test {
  protected:
    CpuModuleFile() {
        void* handle = dlopen(ASSAY_CPU_MODULE, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) throw std::runtime_error(dlerror());
        entry_ = static_cast<const device::ModuleEntry*>(dlsym(handle, "assay_module"));
        if (entry_ == nullptr) throw std::runtime_error(dlerror());
        module_.reset(entry_->create());
    }
    const device::ModuleEntry* entry_;
    std::unique_ptr<device::Module> module_;
};

TEST_F(CpuModuleFile, SaysWhatItIs) {
    EXPECT_EQ(entry_->abi, kModuleAbi);
    EXPECT_STREQ(entry_->kind, "cpu");
}

TEST_F(CpuModuleFile, ListsOneDeviceAndOpensIt) {
    std::string why = "stale";
    const auto devices = module_->list(why);
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_EQ(why, "");
    const auto device = module_->open(0);
    EXPECT_EQ(device->facts(), devices[0]);
    EXPECT_NE(device->facility("matmul"), nullptr);
    EXPECT_EQ(device->facility("teleport"), nullptr);
}

// Also proves that an error thrown inside the module is caught by its type here.
TEST_F(CpuModuleFile, AnotherIndexIsAUsageError) {
    EXPECT_THROW(module_->open(1), UsageError);
}

TEST_F(CpuModuleFile, NamesItsLibraries) {
    const auto software = module_->software();
    ASSERT_EQ(software.size(), 1U);
    EXPECT_EQ(software[0].name, "oneDNN");
    EXPECT_FALSE(software[0].version.empty());
}

}  // namespace
}  // namespace assay::cpu
