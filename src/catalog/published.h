// data/published.toml: what others measured, each figure with its source and method.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/result.h"

namespace assay::catalog {

struct Published {
    enum class Kind { measured, ratio };

    Kind kind = Kind::measured;
    std::string what;                                 // in words, where the pairs don't say it
    std::string probe;                                // "gemm", "memory", ...
    std::string device;                               // the catalog's name
    std::string over;                                 // of a ratio: the device that it is over
    std::string dtype;                                // of products; "" unknown
    std::vector<std::array<std::int64_t, 3>> shapes;  // M, N, K; empty: unknown
    std::string op, size;                             // of memory kernels; "" unknown
    std::map<std::string, std::string> pairs;         // of attention, as its case names them
    double value = 0;
    std::optional<double> most;  // `value` is then the least of a range
    std::string unit;            // "TFLOP/s", "GB/s", "tokens/s", "s", "tokens/s per $/h", "ratio"
    std::string method;
    std::string source, date;
    bool secondary = false;  // read in a third party's excerpt

    std::string value_text() const;   // "720", "1100 to 1250"
    std::string source_text() const;  // "WHO, DATE, secondary: METHOD"
};

// Throws UsageError "file:line:column: reason" for what is malformed, misses or isn't known.
std::vector<Published> load_published(const std::filesystem::path& file);

// Measured rows of the same work as the result's on the device of that catalog name: a product of
// the same M, N, K and type with one product a call, no epilogue and random inputs, whatever its
// layout; a memory kernel of the same op, and size where the row knows it; attention whose case has
// the row's pairs and else, layout and provider aside, defaults. In the file's order.
std::vector<Published> find_published(const std::vector<Published>& rows,
                                      std::string_view device_model, const record::Result& result);

}  // namespace assay::catalog
