// Any bytes as options of a product: either cases that are read back as the same problem, or one
// UsageError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "probes/gemm_sweep.h"
#include "probes/matmul_problem.h"
#include "work/shapes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (text.find('/') != text.npos || text.find('.') != text.npos) return 0;  // a file's path
    try {
        for (const auto& shape : work::parse_shapes(text, 512, 1)) {
            probes::MatmulCase matmul;
            matmul.problem.m = shape.m;
            matmul.problem.n = shape.n;
            matmul.problem.k = shape.k;
            work::validate(matmul.problem);
            if (probes::matmul_from_case(probes::to_case(matmul)).problem != matmul.problem) {
                std::abort();
            }
        }
    } catch (const UsageError& e) {
        if (e.what()[0] == '\0') std::abort();
    }
    try {
        const auto sweep = probes::parse_sweep(text);
        if (sweep.sizes.size() < 2) std::abort();
    } catch (const UsageError& e) {
        if (e.hint().empty()) std::abort();
    }
    return 0;
}
