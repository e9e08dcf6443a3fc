#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#include "null_graph.h"

namespace {

__global__ void null_kernel() {}

void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "graph_cost: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

}  // namespace

namespace assay::bench {

void launch_null(void* stream) {
    null_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>();
}

// Seconds of one kernel, by a capture, launches and events of the bare runtime.
BareGraph::BareGraph() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_ = stream;
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kKernels; ++i) launch_null(stream);
    check(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0));
    executable_ = executable;
    cudaEvent_t start = nullptr, end = nullptr;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    start_ = start, end_ = end;
}

double BareGraph::seconds(int launches) {
    auto* stream = static_cast<cudaStream_t>(stream_);
    check(cudaEventRecord(static_cast<cudaEvent_t>(start_), stream));
    for (int i = 0; i < launches; ++i) {
        check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), stream));
    }
    check(cudaEventRecord(static_cast<cudaEvent_t>(end_), stream));
    check(cudaStreamSynchronize(stream));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(start_),
                               static_cast<cudaEvent_t>(end_)));
    return static_cast<double>(ms) * 1e-3 / launches / kKernels;
}

}  // namespace assay::bench
