// Any bytes as a document assay/1: either a run that is written and read back unchanged, or one
// Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "record/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto run = assay::record::run_from_json(assay::parse_json(text, "input.json"));
        const auto written = assay::dump_line(assay::record::to_json(run));
        const auto again = assay::record::run_from_json(assay::parse_json(written, "written"));
        if (assay::dump_line(assay::record::to_json(again)) != written) std::abort();
    } catch (const assay::Error& e) {
        if (e.what()[0] == '\0') std::abort();
    }
    return 0;
}
