#include "alternating.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "stats/quantile.h"

namespace assay::bench {
namespace {

// s; longer than what the other process's context costs to bring in
constexpr double kRound = 0.06;

}  // namespace

PeerSubject& Torch::with(const std::string& name, const Json& problem) {
    auto& peer = peers_[name];
    if (peer) {
        peer->prepare(problem);
    } else {
        crew::Command command{
            {"/usr/bin/env", "python3", std::string(ASSAY_PEERS_DIR) + "/" + script_}};
        command.own_protocol = false;
        peer = std::make_unique<PeerSubject>(name, std::move(command), problem);
    }
    return *peer;
}

std::vector<measure::Alternative> alternate(const std::vector<measure::Subject*>& subjects,
                                            double limit_s) {
    measure::SteadyClock clock;
    // Into the power state of the rounds.
    std::vector<double> seconds(1);
    const double start = clock.now();
    while (clock.now() < start + 1.5) {
        for (auto* subject : subjects) subject->run(seconds, 20);
    }
    measure::InterleaveOptions options;
    options.limit_s = limit_s;
    options.round_s = kRound;
    options.min_rounds = 30;
    return measure::interleave(subjects, clock, options);
}

double median_of(const measure::Alternative& alternative) {
    return stats::median(alternative.seconds);
}

void print_header() {
    fmt::print("| what | assay | torch | assay's rate over torch's (95 %) | assay is | rounds |\n");
    fmt::print("|---|---|---|---|---|---|\n");
}

void print_row(const std::string& what, double work, const char* unit,
               const measure::Alternative& peer, const measure::Alternative& ours) {
    const auto ratio = stats::ratio_of_rounds(peer.seconds, ours.seconds);
    fmt::print("| {} | {} {} {} | {} {} {} | {:.4f} ({:.4f} to {:.4f}) | {} | {} |\n", what,
               ours.name, format_number(work / median_of(ours)), unit, peer.name,
               format_number(work / median_of(peer)), unit, 1 / ratio.value, 1 / ratio.interval.hi,
               1 / ratio.interval.lo, stats::name(stats::verdict(ratio.interval)),
               peer.seconds.size());
    std::fflush(stdout);
}

void attempt(const std::string& what, const std::function<void()>& compare) {
    try {
        compare();
    } catch (const Interrupted&) {
        throw;
    } catch (const Error& error) {
        fmt::print("| {} | failed: {} | | | | |\n", what, error.what());
        std::fflush(stdout);
    }
}

}  // namespace assay::bench
