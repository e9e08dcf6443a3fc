#include "cpu/fill.h"

#include "cpu/cpu_stream.h"
#include "cpu/share.h"

namespace assay::cpu {

void CpuFill::enqueue(device::Stream& stream, const work::FillSpec& spec, work::Type type,
                      std::uint64_t count, void* out) {
    CpuStream::of(stream).enqueue([this, spec, type, count, out] {
        team_.run([&](int index, int members) {
            const std::size_t element = work::size_of(type);
            const Share share = share_of(count * element, index, members);
            work::fill(spec, type, share.first / element, share.bytes / element,
                       static_cast<std::byte*>(out) + share.first);
        });
    });
}

}  // namespace assay::cpu
