// Any bytes as a config.json: either a model whose counts are finite, or one Error that names it.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "model/cache.h"
#include "model/config.h"
#include "model/counts.h"
#include "model/flop.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::model;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto model = read_config(text, "config.json", {.assume = true});
        const auto counts = count(model.shape);
        if (counts.total <= 0 || !(counts.active > 0)) std::abort();
        const auto bytes = weight_bytes(model.shape, model.storage).total();
        if (!std::isfinite(bytes) || !(bytes > 0)) std::abort();
        if (!(cache_bytes(model.shape, 1e6, cache_type("bf16")) >= 0)) std::abort();
        for (const auto& formula : flop_formulas()) {
            if (!(training_flop(model.shape, formula, 4096).total() > 0)) std::abort();
        }
    } catch (const assay::UsageError& e) {
        if (e.what()[0] == '\0' || e.hint().empty()) std::abort();
    }
    return 0;
}
