// Any bytes as a safetensors header: either tensors that fill the data, or one UsageError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "model/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    constexpr std::uint64_t kData = 64;
    try {
        std::uint64_t bytes = 0;
        for (const auto& t : assay::model::parse_safetensors_header(text, kData, "header")) {
            if (t.begin > t.end || t.end > kData || t.elements() < 0) std::abort();
            bytes += t.end - t.begin;
        }
        if (bytes != kData) std::abort();
    } catch (const assay::UsageError& e) {
        if (!std::string_view(e.what()).starts_with("header: ")) std::abort();
    }
    return 0;
}
