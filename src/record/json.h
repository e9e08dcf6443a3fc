// The document `assay/1` (docs/assay-1.schema.json) to and from the records. Reading what was
// written gives an equal record; NaN is null, integers over 2^53 are strings.
// The readers throw Error naming the field that is missing or has another type.
#pragma once

#include "base/json.h"
#include "record/run.h"

namespace assay::record {

inline constexpr const char* kSchema = "assay/1";

Json to_json(const DeviceFacts& facts);
Json to_json(const Result& result);
Json to_json(const Finding& finding);
Json to_json(const Provenance& provenance);
// The whole document.
Json to_json(const Run& run);
// The envelope of a command that measures nothing: `section` (inventory, plan, cost, comparison,
// history) holds `content` in place of results.
Json to_json(const Run& run, const std::string& section, Json content);

DeviceFacts device_facts_from_json(const Json& json);
Result result_from_json(const Json& json);
Finding finding_from_json(const Json& json);
Provenance provenance_from_json(const Json& json);
Run run_from_json(const Json& json);

}  // namespace assay::record
