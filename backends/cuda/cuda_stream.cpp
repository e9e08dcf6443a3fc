#include "cuda/cuda_stream.h"

#include <atomic>

#include "cuda/check.h"
#include "gpu/hold.h"

namespace assay::cuda {

CudaEvent::CudaEvent() {
    ASSAY_CUDA(cudaEventCreate(&event_));
}

CudaEvent::~CudaEvent() {
    cudaEventDestroy(event_);
}

double CudaEvent::seconds_since(device::Event& start) {
    ASSAY_CUDA(cudaEventSynchronize(event_));
    float ms = 0;
    ASSAY_CUDA(cudaEventElapsedTime(&ms, of(start).event_, event_));
    return static_cast<double>(ms) * 1e-3;
}

CudaGraph::~CudaGraph() {
    cudaGraphExecDestroy(graph_);
}

void CudaGraph::launch(device::Stream& stream) {
    ASSAY_CUDA(cudaGraphLaunch(graph_, CudaStream::of(stream)));
}

CudaStream::CudaStream() {
    ASSAY_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    ASSAY_CUDA(cudaHostAlloc(&released_, sizeof *released_, cudaHostAllocMapped));
    *released_ = 0;
}

CudaStream::~CudaStream() {
    std::atomic_ref(*released_).store(held_);
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
    cudaFreeHost(released_);
}

void CudaStream::record(device::Event& event) {
    ASSAY_CUDA(cudaEventRecord(CudaEvent::of(event).handle(), stream_));
}

void CudaStream::wait(device::Event& event) {
    ASSAY_CUDA(cudaStreamWaitEvent(stream_, CudaEvent::of(event).handle(), 0));
}

void CudaStream::hold() {
    gpu::launch_hold(released_, held_ + 1, stream_);
    ASSAY_CUDA_LAUNCHED("hold");
    ++held_;
}

void CudaStream::release() {
    const std::atomic_ref released(*released_);
    if (released.load() < held_) released.fetch_add(1);
}

std::unique_ptr<device::Graph> CudaStream::capture(const std::function<void()>& work) {
    ASSAY_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
        work();
    } catch (...) {
        cudaStreamEndCapture(stream_, &graph);
        if (graph != nullptr) cudaGraphDestroy(graph);
        (void)cudaGetLastError();
        throw;
    }
    ASSAY_CUDA(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t executable = nullptr;
    const auto status = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "cudaGraphInstantiate(&executable, graph, 0)", __FILE__, __LINE__);
    return std::make_unique<CudaGraph>(executable);
}

void CudaStream::synchronize() {
    ASSAY_CUDA(cudaStreamSynchronize(stream_));
}

}  // namespace assay::cuda
