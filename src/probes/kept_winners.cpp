#include "probes/kept_winners.h"

#include "base/error.h"

namespace assay::probes {

std::optional<measure::Winners> open_winners(record::Result& result) {
    try {
        return measure::Winners(measure::Winners::default_file());
    } catch (const Error& error) {
        result.conditions.settings["winners file"] = error.what();
        return std::nullopt;
    }
}

void keep_winner(measure::Winners& winners, const measure::WinnerKey& key,
                 const std::string& algorithm, record::Result& result) {
    try {
        winners.keep(key, algorithm);
    } catch (const Error& error) {
        result.conditions.settings["winners file"] = error.what();
    }
}

}  // namespace assay::probes
