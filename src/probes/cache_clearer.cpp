#include "probes/cache_clearer.h"

#include "base/units.h"

namespace assay::probes {

namespace {
constexpr std::size_t kClearBytes = std::size_t{256} << 20;
}

CacheClearer::CacheClearer(device::Device& device)
    : last_level_cache_bytes_(device.facts().last_level_cache_bytes),
      buffer_(device.allocate(kClearBytes)),
      stream_(device.create_stream()),
      write_(device.need<ops::Memory>().prepare(
          {work::MemoryOp::write, kClearBytes, true, device::kAnyNode})) {}

void CacheClearer::operator()() {
    write_->enqueue(*stream_, {nullptr, nullptr, buffer_->data()});
    stream_->synchronize();
}

std::string CacheClearer::shortfall() const {
    if (last_level_cache_bytes_ < kClearBytes) return {};
    return "256 MiB are written to clear a last-level cache of " +
           format_bytes(static_cast<double>(last_level_cache_bytes_)) + ": calls may find it warm";
}

std::function<void()> clearing(Bench& bench, record::Result& result) {
    if (!bench.protocol.clear_between) return {};
    const auto clearer = std::make_shared<CacheClearer>(bench.device);
    if (auto why = clearer->shortfall(); !why.empty()) {
        result.conditions.settings["cleared"] = std::move(why);
    }
    return [clearer] { (*clearer)(); };
}

}  // namespace assay::probes
