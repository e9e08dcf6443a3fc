// cuDNN, opened on first use through a table of functions: where it is missing, only what it
// computes is.
#pragma once

#include <cstddef>
#include <string>

#include <cudnn_graph.h>

#include "device/shared_library.h"

namespace assay::cuda {

// A member, and its function without the prefix.
// clang-format off
#define ASSAY_CUDNN_FUNCTIONS(apply)                                                               \
    apply(get_version, GetVersion) apply(get_cudart_version, GetCudartVersion) \
    apply(get_error_string, GetErrorString) \
    apply(get_last_error_string, GetLastErrorString) \
    apply(create, Create) apply(set_stream, SetStream) \
    apply(create_descriptor, BackendCreateDescriptor) \
    apply(destroy_descriptor, BackendDestroyDescriptor) \
    apply(finalize, BackendFinalize) \
    apply(set_attribute, BackendSetAttribute) apply(get_attribute, BackendGetAttribute) \
    apply(execute, BackendExecute) apply(populate_cuda_graph, BackendPopulateCudaGraph)
// clang-format on

// cuDNN 9 is a small library that opens its others itself, from its own folder first.
class Cudnn {
  public:
    // Opened once a process; ASSAY_LIB_CUDNN names another file. Throws Unsupported with the file
    // and the loader's reason, each time it is asked.
    static const Cudnn& instance();

    const std::string& file() const { return library_.file(); }
    const std::string& version() const { return version_; }  // "9.19.0"
    std::size_t number() const { return number_; }           // 91900
    // Of the device in use and of this thread, made on first use and kept: freeing it needs a
    // driver that may be gone.
    cudnnHandle_t handle() const;

    // Throws Unsupported for what cuDNN doesn't do, DeviceLost or Error for the rest. The text
    // names `call` and what cuDNN says of it.
    void check(cudnnStatus_t status, const std::string& call) const;

#define ASSAY_MEMBER(member, function) decltype(&cudnn##function) member = nullptr;
    ASSAY_CUDNN_FUNCTIONS(ASSAY_MEMBER)
#undef ASSAY_MEMBER

  private:
    Cudnn();

    device::SharedLibrary library_;
    std::size_t number_ = 0;
    std::string version_;
};

}  // namespace assay::cuda
