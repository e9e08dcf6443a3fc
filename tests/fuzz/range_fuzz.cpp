// Any bytes as a list of sizes: either 1 to 10,000 values, or one UsageError with a hint.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/range.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto values = assay::parse_sizes(text);
        if (values.empty() || values.size() > 10'000) std::abort();
    } catch (const assay::UsageError& e) {
        if (e.hint().empty()) std::abort();
    }
    return 0;
}
