// The fastest of a library's algorithms for a product, against the library's own choice.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"
#include "probes/matmul_problem.h"
#include "probes/probe.h"

namespace assay::probes {

inline constexpr std::size_t kEnumerated = 32;

struct TuneRequest {
    bool anew = false;        // whatever winner is known
    bool time_again = false;  // also time the tuning of a shape near by, with what is known then
    // Algorithms tried beyond the library's own list, at most. Looking at one costs a few calls, so
    // beyond the default the time for the search grows by as much.
    std::size_t enumerated = kEnumerated;
};

struct TunedChoice {
    std::unique_ptr<ops::PreparedMatmul> winner;     // null: the library's own choice stays
    std::map<std::string, record::Samples> samples;  // of the launch, see tuned_metrics()
};

// Searches under the bench's protocol, or takes the winner known from an earlier search by the same
// library on such a device, unless it has become slower than the library's own choice. The search
// decides; a comparison of the two alone, after it, says what that gains. Both take under 5 s (more
// where more are enumerated), the protocol's settling not counted. `heuristic` has been run and
// checked; `clear` is what a subject runs between samples. An algorithm is checked on set 0 before
// it is timed; one that is wrong, or throws, is dropped and named. Fills the settings "winner",
// "cache" (hit, miss), "settling" (what it took beside the tuning time, if any), "memory held
// before" and "after" (bytes of the device), "wrong algorithms" and "dropped algorithms", and the
// check "memory returned": that after the search no more than 64 MiB more are held than before.
// Throws Unsupported where the device has no algorithms to choose from.
TunedChoice choose_algorithm(const MatmulCase& matmul, const TuneRequest& request,
                             ops::PreparedMatmul& heuristic, const RotatingOperands& operands,
                             const MatmulChecker& checker, const std::function<void()>& clear,
                             Bench& bench, record::Result& result);

// "tuned gain", "tuning time", "algorithms tried", "re-tuning time", from the launches' samples
// "heuristic" and "tuned" (s, by round of the comparison; none where the library's own choice won,
// whose gain is 1) and those of the metrics' names. Several launches' gains are pooled as their
// times are (measure/summary.h).
std::vector<record::Metric> tuned_metrics(std::span<const record::Launch> launches);

}  // namespace assay::probes
