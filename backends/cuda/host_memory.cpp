#include "cuda/host_memory.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"
#include "cuda/check.h"
#include "device/device.h"

namespace assay::cuda {

namespace {

constexpr int kMostNodes = 1024;
constexpr int kBind = 2;  // MPOL_BIND of linux/mempolicy.h

void bind_to_node(void* data, std::size_t bytes, int node) {
    constexpr int kBits = 8 * sizeof(unsigned long);
    std::array<unsigned long, kMostNodes / kBits> nodes{};
    if (node >= kMostNodes) throw Unsupported(fmt::format("no NUMA node {}", node));
    nodes[static_cast<std::size_t>(node / kBits)] |= 1UL << (node % kBits);
    if (::syscall(SYS_mbind, data, bytes, kBind, nodes.data(), kMostNodes, 0) == 0) return;
    throw Unsupported(
        fmt::format("host memory can't be bound to NUMA node {}: {}", node, std::strerror(errno)),
        "choose a node that this process may use, or --numa local");
}

// By the kernel's estimate; none where it can't be read.
std::optional<std::size_t> available_bytes() {
    std::ifstream meminfo("/proc/meminfo");
    std::string word;
    while (meminfo >> word) {
        std::size_t kilobytes = 0;
        if (word == "MemAvailable:" && meminfo >> kilobytes) return kilobytes * 1024;
    }
    return std::nullopt;
}

// Pages are given when they are touched, so asking for too many fails long after it was granted.
void require_available(std::size_t bytes) {
    const auto available = available_bytes();
    if (!available || bytes <= *available) return;
    throw Unsupported(fmt::format("{} of host memory are needed, and {} are available",
                                  format_bytes(static_cast<double>(bytes)),
                                  format_bytes(static_cast<double>(*available))),
                      "choose a smaller --size");
}

}  // namespace

// Mapped by hand and registered, since pages must be bound to a node before they are touched.
HostMemory::HostMemory(std::size_t bytes, work::HostMemory kind, int node)
    : bytes_(bytes), pinned_(kind == work::HostMemory::pinned) {
    require_available(bytes);
    data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
        throw Unsupported(
            fmt::format("no {} of host memory: {}", format_bytes(static_cast<double>(bytes)),
                        std::strerror(errno)),
            "choose a smaller --size");
    }
    try {
        if (node != device::kAnyNode) bind_to_node(data_, bytes, node);
        std::memset(data_, 0, bytes);
        if (pinned_) ASSAY_CUDA(cudaHostRegister(data_, bytes, cudaHostRegisterDefault));
    } catch (...) {
        ::munmap(data_, bytes);
        throw;
    }
}

HostMemory::~HostMemory() {
    if (pinned_) cudaHostUnregister(data_);
    ::munmap(data_, bytes_);
}

}  // namespace assay::cuda
