#include "cpu/cpu_buffer.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include <sys/mman.h>

#include "base/units.h"
#include "cpu/memory_limit.h"
#include "cpu/share.h"

namespace assay::cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

// A mapping that begins on a huge page.
void* map_aligned(std::size_t bytes) {
    void* raw = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) {
        throw Unsupported("can't map " + format_bytes(static_cast<double>(bytes)) + ": " +
                          std::strerror(errno));
    }
    auto* begin = static_cast<std::byte*>(raw);
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(raw) % kHugePage;
    if (head > 0) munmap(begin, head);
    if (head < kHugePage) munmap(begin + head + bytes, kHugePage - head);
    return begin + head;
}

}  // namespace

CpuBuffer::CpuBuffer(std::size_t bytes, int node, const Topology& topology, ThreadTeam& team)
    : bytes_(bytes), mapped_bytes_(round_up(std::max<std::size_t>(bytes, 1), kPage)) {
    if (node != device::kAnyNode &&
        std::ranges::none_of(topology.nodes(), [&](const auto& n) { return n.index == node; })) {
        throw Unsupported("there is no NUMA node " + std::to_string(node));
    }
    require_memory(mapped_bytes_, memory_state());
    data_ = map_aligned(mapped_bytes_);
    try {
        // Huge pages are a request: without them the kernel still gives small ones.
        if (mapped_bytes_ >= kHugePage) madvise(data_, mapped_bytes_, MADV_HUGEPAGE);
        if (node != device::kAnyNode) topology.bind_memory(data_, mapped_bytes_, node);
        team.run([&](int index, int count) {
            const Share share = share_of(mapped_bytes_, index, count);
            auto* page = static_cast<volatile std::byte*>(data_) + share.first;
            for (std::size_t i = 0; i < share.bytes; i += kPage) page[i] = std::byte{0};
        });
    } catch (...) {
        munmap(data_, mapped_bytes_);
        throw;
    }
}

CpuBuffer::~CpuBuffer() {
    munmap(data_, mapped_bytes_);
}

}  // namespace assay::cpu
