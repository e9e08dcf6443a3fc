// Named lists of matrix-product shapes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::work {

struct Shape {
    std::int64_t m = 0, n = 0, k = 0;
    std::string layer;  // "qkv", "" when the shape has no name

    bool operator==(const Shape&) const = default;
};

// `text` is a comma list of: a named set (article, square, llama3-8b, llama3-70b, gpt2-1.5b),
// MxNxK, or the path of a TOML file with `[[shape]]` entries m, n, k and an optional layer (a path
// ends in .toml or has a slash).
// `tokens` is M of the model sets; `tensor_parallel` splits their true layers: columns of QKV and
// gate/up (N), rows of attention out and down (K), and columns of the vocabulary head where they
// divide; else each rank has the whole head. Throws UsageError for an unknown name (with the
// nearest), a malformed shape, a dimension outside 1 .. 2^31 - 1, a split that doesn't divide, or
// tensor_parallel != 1 where no named model is in the list; errors in a file name line and column.
std::vector<Shape> parse_shapes(std::string_view text, std::int64_t tokens,
                                std::int64_t tensor_parallel);

std::vector<std::string> shape_set_names();

}  // namespace assay::work
