// Matrix products (work/matmul.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

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

// Which of the device's ways to a product. Empty: its first entry point, the library's own choice.
struct MatmulChoice {
    std::string entry;      // one of entries()
    std::string algorithm;  // one of algorithms(), of the first entry
};

class Matmul : public device::Facility {
  public:
    static constexpr const char* kName = "matmul";
    // Throws Unsupported naming the type or dimension the device can't do, or the choice it lacks.
    virtual std::unique_ptr<PreparedMatmul> prepare(const work::Matmul& problem,
                                                    const MatmulChoice& choice = {}) = 0;
    // Entry points of its libraries, the default first: a product has the same operand bytes
    // through each. Empty: there is one.
    virtual std::vector<std::string> entries() const { return {}; }
    // What a search may choose from: the library's own list, its choice first, then at most
    // `enumerated` others that the library says it can run. The same text means the same algorithm
    // in another process with the same library. Empty: the library has no such choice.
    virtual std::vector<std::string> algorithms(const work::Matmul& /*problem*/,
                                                std::size_t /*enumerated*/) {
        return {};
    }
};

}  // namespace assay::ops
