// One of cuDNN's backend descriptors: an object of named attributes, finalized before it is used.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/cudnn/library.h"

namespace assay::cuda {

class CudnnDescriptor {
  public:
    // `name` is what errors call it.
    CudnnDescriptor(cudnnBackendDescriptorType_t type, std::string name);

    // Errors name the call, the descriptor and the attribute, as Cudnn::check does.
    void set(cudnnBackendAttributeName_t attribute, std::int64_t value);
    void set(cudnnBackendAttributeName_t attribute, bool value);
    void set(cudnnBackendAttributeName_t attribute, cudnnDataType_t value);
    void set(cudnnBackendAttributeName_t attribute, cudnnPointwiseMode_t value);
    void set(cudnnBackendAttributeName_t attribute, cudnnReduceTensorOp_t value);
    void set(cudnnBackendAttributeName_t attribute, cudnnBackendHeurMode_t value);
    void set(cudnnBackendAttributeName_t attribute, cudnnHandle_t value);
    void set(cudnnBackendAttributeName_t attribute, const CudnnDescriptor& value);
    void set(cudnnBackendAttributeName_t attribute, std::span<const std::int64_t> values);
    void set(cudnnBackendAttributeName_t attribute, std::span<const CudnnDescriptor> values);
    void set(cudnnBackendAttributeName_t attribute, const std::string& value);
    // Addresses of memory, the host's or the device's.
    void set_addresses(cudnnBackendAttributeName_t attribute, std::span<void* const> values);
    void finalize();

    std::int64_t number(cudnnBackendAttributeName_t attribute) const;
    std::string text(cudnnBackendAttributeName_t attribute) const;
    // `into` is a descriptor that cuDNN fills.
    void get(cudnnBackendAttributeName_t attribute, CudnnDescriptor& into) const;
    // New descriptors of `type`, as many as there are.
    std::vector<CudnnDescriptor> list(cudnnBackendAttributeName_t attribute,
                                      cudnnBackendDescriptorType_t type,
                                      const std::string& name) const;

    cudnnBackendDescriptor_t handle() const { return descriptor_.get(); }

  private:
    void set(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type,
             std::size_t count, const void* values);
    std::int64_t get(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type,
                     std::size_t count, void* values) const;
    std::string call(const char* function, cudnnBackendAttributeName_t attribute) const;

    struct Destroy {
        void operator()(void* descriptor) const;
    };
    std::unique_ptr<void, Destroy> descriptor_;
    std::string name_;
};

}  // namespace assay::cuda
