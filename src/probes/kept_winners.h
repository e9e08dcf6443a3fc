// The fastest ways that earlier runs found, for a probe that can do without them.
#pragma once

#include <optional>
#include <string>

#include "measure/winners.h"
#include "record/result.h"

namespace assay::probes {

// The winners on disk; without a home folder there are none, and the setting "winners file" says
// why.
std::optional<measure::Winners> open_winners(record::Result& result);

// The same setting says why one can't be kept.
void keep_winner(measure::Winners& winners, const measure::WinnerKey& key,
                 const std::string& algorithm, record::Result& result);

}  // namespace assay::probes
