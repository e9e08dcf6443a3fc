#include "cpu/cpu_stream.h"

#include "base/error.h"
#include "base/time.h"

namespace assay::cpu {

void CpuEvent::reach() {
    time_ = monotonic_seconds();
}

double CpuEvent::seconds_since(device::Event& start) {
    const auto& from = dynamic_cast<CpuEvent&>(start);
    if (!time_ || !from.time_) throw Error("an event was asked for its time but never recorded");
    return *time_ - *from.time_;
}

CpuStream& CpuStream::of(device::Stream& stream) {
    if (auto* own = dynamic_cast<CpuStream*>(&stream)) return *own;
    throw Error("a stream of another device was given to the CPU");
}

void CpuStream::record(device::Event& event) {
    enqueue([&own = dynamic_cast<CpuEvent&>(event)] { own.reach(); });
}

std::unique_ptr<device::Graph> CpuStream::capture(const std::function<void()>& work) {
    if (captured_ != nullptr) throw Error("a capture began inside another one");
    std::vector<Call> calls;
    captured_ = &calls;
    try {
        work();
    } catch (...) {
        captured_ = nullptr;
        throw;
    }
    captured_ = nullptr;
    return std::make_unique<CpuGraph>(std::move(calls));
}

void CpuGraph::launch(device::Stream& stream) {
    CpuStream::of(stream).enqueue([calls = calls_] {
        for (const CpuStream::Call& call : *calls) call();
    });
}

}  // namespace assay::cpu
