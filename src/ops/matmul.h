// Matrix products (work/matmul.h).
#pragma once

#include <memory>

#include "device/device.h"
#include "ops/operation.h"
#include "work/matmul.h"

namespace assay::ops {

// Device addresses, laid out as work::Matmul says. `bias` is null without a bias epilogue.
struct MatmulOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    const void* bias = nullptr;
    void* c = nullptr;
};

class PreparedMatmul : public Operation {
  public:
    virtual void enqueue(device::Stream& stream, const MatmulOperands& operands) = 0;
};

class Matmul : public device::Facility {
  public:
    static constexpr const char* kName = "matmul";
    // Throws Unsupported naming the type or dimension the device can't do.
    virtual std::unique_ptr<PreparedMatmul> prepare(const work::Matmul& problem) = 0;
};

}  // namespace assay::ops
