// The first GPU, for tests that need one.
#pragma once

#include <gtest/gtest.h>

#include "cuda/cuda_device.h"
#include "cuda/facts.h"

namespace assay::cuda {

// Skips where there is no GPU.
class WithGpu : public testing::Test {
  protected:
    void SetUp() override {
        std::string why;
        static const auto devices = list_devices(why);
        if (devices.empty()) GTEST_SKIP() << "needs a GPU: " << why;
        // Opening one takes a while, and it stays.
        static CudaDevice device(devices.front());
        device_ = &device;
    }
    device::Device& device() { return *device_; }

  private:
    CudaDevice* device_ = nullptr;
};

}  // namespace assay::cuda
