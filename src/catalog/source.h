// Where the figures of a fact file come from.
#pragma once

#include <map>
#include <string>

#include "catalog/fact_file.h"

namespace assay::catalog {

// [source.NAME] text: who and what; date: YYYY, YYYY-MM or YYYY-MM-DD, or nothing where the source
// has none; secondary: quoted by third parties, where its figures were read.
struct Source {
    std::string text;
    std::string date;
    bool secondary = false;
};
using Sources = std::map<std::string, Source>;
// Throws UsageError, as every reader of a fact file.
Sources read_sources(const FactFile& file, const nlohmann::json& root);
// The source that `table` names under "source".
const Source& named_source(const FactFile& file, const nlohmann::json& table, const std::string& at,
                           const Sources& sources);

}  // namespace assay::catalog
