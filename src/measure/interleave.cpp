#include "measure/interleave.h"

#include <algorithm>
#include <numeric>

#include "base/interrupt.h"
#include "measure/runner.h"
#include "stats/quantile.h"

namespace assay::measure {
namespace {

std::vector<std::size_t> order_of_round(std::size_t round, std::size_t subjects) {
    std::vector<std::size_t> order(subjects);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::rotate(order, order.begin() + static_cast<std::ptrdiff_t>(round / 2 % subjects));
    if (round % 2 == 1) std::ranges::reverse(order);
    return order;
}

std::size_t samples_in_round(const Runner& runner, const InterleaveOptions& options) {
    return std::clamp<std::size_t>(runner.fitting(options.round_s), 1, options.most_samples);
}

// What is left of the present burst.
struct Burst {
    double samples = 0, seconds = 0;
};

// Idles, unless the round still fits into the burst.
void begin_round(std::vector<Runner>& runners, Clock& clock, std::size_t first,
                 const InterleaveOptions& options, Burst& burst) {
    if (options.idle_s <= 0) return;
    Burst needed;
    for (const auto& runner : runners) {
        const auto samples = static_cast<double>(samples_in_round(runner, options));
        needed.samples += samples;
        needed.seconds += samples * runner.sample_s();
    }
    if (needed.samples > burst.samples || needed.seconds > burst.seconds) {
        clock.sleep(options.idle_s);
        burst = {static_cast<double>(options.burst_samples), options.burst_s};
        if (2 * needed.samples < burst.samples && 2 * needed.seconds < burst.seconds) {
            std::vector<double> unrecorded;
            runners[first].append(unrecorded, 1);
            burst.samples -= 1;
            burst.seconds -= runners[first].sample_s();
        }
    }
    burst.samples -= needed.samples;
    burst.seconds -= needed.seconds;
}

// The median time of each subject; nothing when interrupted.
std::vector<double> run_round(std::vector<Runner>& runners, Clock& clock, std::size_t round,
                              const InterleaveOptions& options, Burst& burst) {
    std::vector<double> medians(runners.size());
    std::vector<double> samples;
    const auto order = order_of_round(round, runners.size());
    begin_round(runners, clock, order.front(), options, burst);
    for (const std::size_t i : order) {
        if (interrupted()) return {};
        samples.clear();
        runners[i].append(samples, samples_in_round(runners[i], options));
        medians[i] = stats::median(samples);
    }
    return medians;
}

void judge(std::vector<Alternative>& alternatives, double margin) {
    const auto& base = alternatives.front().seconds;
    if (base.empty()) return;
    for (auto& alternative : alternatives) {
        alternative.ratio = stats::ratio_of_rounds(base, alternative.seconds);
        alternative.verdict = stats::verdict(alternative.ratio.interval, margin);
    }
}

bool decided(const std::vector<Alternative>& alternatives) {
    return std::ranges::none_of(alternatives, [](const Alternative& alternative) {
        return alternative.verdict == stats::Verdict::Ambiguous;
    });
}

}  // namespace

std::vector<Alternative> interleave(std::span<Subject* const> subjects, Clock& clock,
                                    const InterleaveOptions& options) {
    std::vector<Alternative> alternatives;
    if (subjects.empty()) return alternatives;

    const double start = clock.now();
    std::vector<Runner> runners;
    for (Subject* subject : subjects) {
        alternatives.emplace_back().name = subject->name();
        runners.emplace_back(*subject, clock, options.clear_between);
    }
    Burst burst;
    run_round(runners, clock, 0, options, burst);

    std::size_t next_look = options.min_rounds;
    for (std::size_t round = 0; round < options.max_rounds; ++round) {
        const double began = clock.now();
        const auto medians = run_round(runners, clock, round, options, burst);
        if (medians.empty()) break;
        for (std::size_t i = 0; i < medians.size(); ++i) {
            alternatives[i].seconds.push_back(medians[i]);
        }

        const std::size_t rounds = round + 1;
        if (rounds >= next_look) {
            judge(alternatives, options.margin);
            if (decided(alternatives)) return alternatives;
            next_look = rounds + (rounds + 1) / 2;
        }
        const double now = clock.now();
        if (now + (now - began) > start + options.limit_s) break;
    }
    judge(alternatives, options.margin);
    return alternatives;
}

}  // namespace assay::measure
