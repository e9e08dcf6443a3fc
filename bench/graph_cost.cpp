// What a launch through device::Graph costs beyond the bare CUDA runtime: a graph of null kernels,
// launched and timed both ways, interleaved.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "cuda/cuda_device.h"
#include "cuda/cuda_stream.h"
#include "cuda/facts.h"
#include "null_graph.h"
#include "stats/quantile.h"

int main() {
    using namespace assay;
    constexpr int kRounds = 200, kLaunches = 20;
    try {
        std::string why;
        const auto devices = cuda::list_devices(why);
        if (devices.empty()) throw Error("no GPU: " + why, "run it where there is one");
        cuda::CudaDevice cuda_device(devices.front());
        device::Device& device = cuda_device;
        bench::BareGraph bare;
        const auto stream = device.create_stream();
        const auto graph = stream->capture([&] {
            for (int i = 0; i < bench::kKernels; ++i) {
                bench::launch_null(cuda::CudaStream::of(*stream));
            }
        });
        const auto start = device.create_event(), end = device.create_event();
        const auto ours = [&] {
            stream->record(*start);
            for (int i = 0; i < kLaunches; ++i) graph->launch(*stream);
            stream->record(*end);
            return end->seconds_since(*start) / kLaunches / bench::kKernels;
        };
        std::vector<double> bare_s, ours_s, difference;
        for (int round = 0; round < kRounds; ++round) {
            const bool first = round % 2 == 0;
            if (first) bare_s.push_back(bare.seconds(kLaunches));
            ours_s.push_back(ours());
            if (!first) bare_s.push_back(bare.seconds(kLaunches));
            difference.push_back(ours_s.back() - bare_s.back());
        }
        fmt::print(
            "null kernel in a graph: bare runtime {:.4f} us, assay {:.4f} us, difference "
            "{:+.4f} us (median of {} rounds, order alternating)\n",
            stats::median(bare_s) * 1e6, stats::median(ours_s) * 1e6,
            stats::median(difference) * 1e6, kRounds);
    } catch (const Error& error) {
        fmt::print(stderr, "graph_cost: {}\n            {}\n", error.what(), error.hint());
        return kExitFailed;
    }
}
