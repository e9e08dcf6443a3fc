#include "cuda/transfer.h"

#include <optional>

#include "cuda/check.h"
#include "cuda/cuda_buffer.h"
#include "cuda/cuda_stream.h"
#include "cuda/host_memory.h"
#include "cuda/runtime_version.h"

namespace assay::cuda {
namespace {

class Prepared : public ops::PreparedTransfer {
  public:
    explicit Prepared(const ops::TransferRequest& request) : request_(request) {
        const auto host = [&] {
            host_.push_back(
                std::make_unique<HostMemory>(request.bytes, request.host, request.node));
            return host_.back()->data();
        };
        const auto device = [&] {
            device_.push_back(std::make_unique<CudaBuffer>(request.bytes));
            return device_.back()->data();
        };
        if (request.what == work::Transfer::device_to_device) {
            ends_.push_back({device(), device(), false, false});
        }
        if (request.what == work::Transfer::host_to_device ||
            request.what == work::Transfer::both_ways) {
            ends_.push_back({host(), device(), true, false});
        }
        if (request.what == work::Transfer::device_to_host ||
            request.what == work::Transfer::both_ways) {
            ends_.push_back({device(), host(), false, true});
        }
        if (ends_.size() > 1) other_.emplace();
        implementation_.library = "CUDA runtime";
        implementation_.library_version = runtime_version();
        implementation_.algorithm = "cudaMemcpyAsync";
        implementation_.path = record::Path::fast;
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream) override {
        const auto main = CudaStream::of(stream);
        if (!other_) {
            copy(ends_[0], main);
            return;
        }
        // The second way starts with the first and is waited for.
        ASSAY_CUDA(cudaEventRecord(fork_.handle(), main));
        ASSAY_CUDA(cudaStreamWaitEvent(other_->handle(), fork_.handle(), 0));
        copy(ends_[0], main);
        copy(ends_[1], other_->handle());
        ASSAY_CUDA(cudaEventRecord(join_.handle(), other_->handle()));
        ASSAY_CUDA(cudaStreamWaitEvent(main, join_.handle(), 0));
    }

    bool waits() const override {
        return request_.host == work::HostMemory::pageable &&
               request_.what != work::Transfer::device_to_device;
    }

    std::vector<ops::TransferEnds> ends() const override { return ends_; }

  private:
    void copy(const ops::TransferEnds& ends, cudaStream_t stream) const {
        const auto kind = ends.from_host ? cudaMemcpyHostToDevice
                          : ends.to_host ? cudaMemcpyDeviceToHost
                                         : cudaMemcpyDeviceToDevice;
        ASSAY_CUDA(cudaMemcpyAsync(ends.to, ends.from, request_.bytes, kind, stream));
    }

    ops::TransferRequest request_;
    std::vector<std::unique_ptr<HostMemory>> host_;
    std::vector<std::unique_ptr<CudaBuffer>> device_;
    std::vector<ops::TransferEnds> ends_;
    std::optional<CudaStream> other_;
    CudaEvent fork_, join_;
    ops::Implementation implementation_;
};

}  // namespace

std::unique_ptr<ops::PreparedTransfer> CudaTransfer::prepare(const ops::TransferRequest& request) {
    return std::make_unique<Prepared>(request);
}

}  // namespace assay::cuda
