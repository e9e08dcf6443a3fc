#include "report/waterfall.h"

#include <fmt/format.h>

#include "judge/look.h"

namespace assay::report {

std::string waterfall_text(const judge::Waterfall& one) {
    const auto& result = *one.result;
    // Between protocols the case is the same; between algorithms the protocol is.
    const bool protocols = one.of == result.conditions.protocol;
    const std::string what = protocols ? result.what.text()
                                       : result.conditions.protocol + " " +
                                             judge::text_without(result.what, "algorithm");
    const auto cause = name(one.cause);
    return fmt::format("{} {} {} / {}: {:.3f} = clock {:.3f}{} x cycles {:.3f} x gaps {:.3f}{}",
                       result.probe, what, one.of, one.over, one.ratio, one.clock,
                       cause.empty() ? "" : " (" + cause + ")", one.cycles, one.gaps,
                       one.gaps_known ? "" : " (not measured)");
}

}  // namespace assay::report
