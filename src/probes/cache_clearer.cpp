#include "probes/cache_clearer.h"

namespace assay::probes {

namespace {
constexpr std::size_t kClearBytes = std::size_t{256} << 20;
}

CacheClearer::CacheClearer(device::Device& device)
    : buffer_(device.allocate(kClearBytes)),
      stream_(device.create_stream()),
      write_(device.need<ops::Memory>().prepare(
          {work::MemoryOp::write, kClearBytes, true, device::kAnyNode})) {}

void CacheClearer::operator()() {
    write_->enqueue(*stream_, {nullptr, nullptr, buffer_->data()});
    stream_->synchronize();
}

}  // namespace assay::probes
