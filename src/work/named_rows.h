// Tables of things that the user names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace assay::work {

// The row whose `name` is `word`. Throws UsageError saying that the `what` is unknown.
template <class Rows>
const auto& row_named(std::string_view what, std::string_view word, const Rows& rows) {
    std::vector<std::string> known;
    for (const auto& row : rows) {
        if (row.name == word) return row;
        known.emplace_back(row.name);
    }
    throw_unknown(what, word, known);
}

}  // namespace assay::work
