// oneDNN (C API, version 2.6 or a later 2.x, or 3.x, as the headers it was built with), opened on
// first use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/topology.h"
#include "ops/matmul.h"

namespace assay::cpu {

// One product ready to run.
class OneDnnMatmul {
  public:
    virtual ~OneDnnMatmul() = default;
    virtual const std::string& implementation() const = 0;  // oneDNN's name for it
    virtual std::uint64_t scratchpad_bytes() const = 0;
    // Returns when C is complete. `scratchpad` has scratchpad_bytes().
    virtual void execute(const ops::MatmulOperands& operands, void* scratchpad) = 0;
};

class OneDnn {
  public:
    // The library, opened once a process with its threads on `cores`; ASSAY_LIB_DNNL names another
    // file. Throws Unsupported with the file and the loader's reason, each time it is asked.
    static OneDnn& instance(const std::vector<Core>& cores);

    virtual ~OneDnn() = default;
    virtual const std::string& file() const = 0;
    virtual const std::string& version() const = 0;
    virtual const std::string& note() const = 0;  // settings of its threads that aren't ours
    virtual int threads() const = 0;
    // Whether the instruction set it uses (which ONEDNN_MAX_CPU_ISA may lower) multiplies the type.
    virtual bool native(work::Type type) const = 0;

    // The product by the first implementation whose name is `preferred`, else by oneDNN's own
    // choice. Throws Unsupported when it has none.
    virtual std::unique_ptr<OneDnnMatmul> matmul(const work::Matmul& problem,
                                                 std::string_view preferred) = 0;
};

}  // namespace assay::cpu
