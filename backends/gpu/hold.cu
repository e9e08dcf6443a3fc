#include "gpu/hold.h"

namespace assay::gpu {
namespace {

__global__ void hold_kernel(const volatile std::uint64_t* released, std::uint64_t ticket) {
    while (*released < ticket) {
    }
}

}  // namespace

void launch_hold(const volatile std::uint64_t* released, std::uint64_t ticket, Stream stream) {
    hold_kernel<<<1, 1, 0, stream>>>(released, ticket);
}

}  // namespace assay::gpu
