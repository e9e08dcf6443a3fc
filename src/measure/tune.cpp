#include "measure/tune.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "measure/runner.h"
#include "measure/settle.h"
#include "stats/quantile.h"

namespace assay::measure {
namespace {

// The first look: this many samples, the shortest of which must not take longer than this many
// times the best's, and this share of the budget for all.
constexpr std::size_t kLookSamples = 2;
constexpr double kFarSlower = 1.3;
constexpr double kLookShare = 0.4;

// Host time that one candidate gets in a round back to back.
constexpr double kSlotS = 0.005;
constexpr std::size_t kMostInSlot = 10;

// Noise is estimated from few rounds, so it is never taken to be less than this of the time.
constexpr double kLeastNoise = 0.005;
// Of the standard error of a difference between two candidates: the leader is the luckiest of many.
constexpr double kSurely = 4.5;
constexpr double kLongestSettling_s = 6;
constexpr std::size_t kFewestRounds = 3;  // before noise decides
constexpr std::size_t kWantedRounds = 4;  // of those that remain, or half of them go
constexpr std::size_t kMostRounds = 200;
constexpr std::size_t kFew = 6;         // candidates that may overrun the budget
constexpr double kCloseEnough = 0.005;  // what a further round could still tell isn't worth it

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Search {
  public:
    Search(const OpenCandidate& open, Clock& clock, const Protocol& protocol,
           const TuneOptions& options, std::size_t candidates)
        : open_(open), clock_(clock), protocol_(protocol), options_(options) {
        tuning_.trials.assign(candidates, {kNan, 0, {}});
    }

    Tuning run() {
        const double start = clock_.now();
        look_at_each();
        budget_left_ = options_.budget_s - (clock_.now() - start);
        if (alive_.size() > 1 && !interrupted()) {
            warm();
            run_rounds();
        }
        if (!alive_.empty()) tuning_.winner = leader().index;
        for (const auto& candidate : alive_) keep(candidate);
        tuning_.seconds = clock_.now() - start;
        return std::move(tuning_);
    }

  private:
    struct Candidate {
        std::size_t index;
        std::unique_ptr<Subject> subject;
        std::unique_ptr<Runner> runner;
        double shortest;             // of the first look
        std::vector<double> rounds;  // seconds
        double score = 0;            // logarithm against the others of the same rounds
    };

    // Runs `work`; what it throws ends the candidate. True when it went well.
    template <class Work>
    bool guarded(std::size_t index, Work work) {
        try {
            work();
            return true;
        } catch (const DeviceLost&) {
            throw;
        } catch (const Interrupted&) {
            throw;
        } catch (const std::exception& error) {
            tuning_.trials[index].failure = error.what();
            return false;
        }
    }

    void keep(const Candidate& candidate) {
        auto& trial = tuning_.trials[candidate.index];
        trial.rounds = candidate.rounds.size();
        trial.seconds =
            candidate.rounds.empty() ? candidate.shortest : stats::median(candidate.rounds);
    }

    template <class Lost>
    void drop(Lost lost) {
        std::erase_if(alive_, [&](const Candidate& candidate) {
            if (!lost(candidate)) return false;
            keep(candidate);
            return true;
        });
    }

    void look_at_each() {
        const double until = clock_.now() + kLookShare * options_.budget_s;
        double best = std::numeric_limits<double>::infinity();
        std::vector<double> samples;
        for (std::size_t i = 0; i < tuning_.trials.size(); ++i) {
            if (interrupted() || (!alive_.empty() && clock_.now() > until)) break;
            Candidate candidate{i, nullptr, nullptr, kNan, {}};
            const bool timed = guarded(i, [&] {
                candidate.subject = open_(i);
                if (!candidate.subject) return;
                candidate.runner =
                    std::make_unique<Runner>(*candidate.subject, clock_, protocol_.clear_between);
                samples.clear();
                candidate.runner->append(samples, kLookSamples);
                candidate.shortest = *std::ranges::min_element(samples);
            });
            if (!timed || !candidate.subject) continue;
            best = std::min(best, candidate.shortest);
            keep(candidate);
            if (candidate.shortest <= kFarSlower * best) alive_.push_back(std::move(candidate));
        }
        drop([&](const Candidate& candidate) { return candidate.shortest > kFarSlower * best; });
    }

    // Interleaved candidates needn't wait for the last percent of a steady rate.
    void warm() {
        auto settling = protocol_;
        settling.settle_limit_s = std::min(settling.settle_limit_s, kLongestSettling_s);
        const double start = clock_.now();
        while (!alive_.empty()) {
            auto& first = alive_.front();
            const bool went_well = guarded(first.index, [&] {
                warm_up(*first.runner, clock_, protocol_.warmup_s);
                if (protocol_.settle) settle(*first.runner, clock_, settling);
            });
            if (went_well) break;
            alive_.erase(alive_.begin());
        }
        tuning_.settle_s = clock_.now() - start;
    }

    void run_rounds() {
        const double start = clock_.now();
        for (std::size_t round = 0; alive_.size() > 1 && round < kMostRounds; ++round) {
            const double began = clock_.now();
            const bool complete = run_round(round);
            if (alive_.empty() || alive_.front().rounds.empty()) return;
            score();
            if (!complete || drop_losers(round + 1)) return;
            const double now = clock_.now();
            const double left = budget_left_ - (now - start);
            if (left < (alive_.size() <= kFew ? -options_.overrun * options_.budget_s : 0)) return;
            // Would as many rounds as wanted, of this length, overrun the budget?
            const auto wanted = static_cast<double>(kWantedRounds - std::min(kWantedRounds, round));
            if (round > 0 && (now - began) * wanted > left) drop_half();
        }
    }

    // False when interrupted: the round then counts for nobody.
    bool run_round(std::size_t round) {
        std::vector<std::size_t> order(alive_.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = (i + round / 2) % order.size();
        }
        if (round % 2 == 1) std::ranges::reverse(order);

        left_in_burst_ = 0;
        std::vector<std::size_t> failed;
        for (const std::size_t i : order) {
            if (interrupted()) break;
            auto& candidate = alive_[i];
            if (!guarded(candidate.index, [&] { run_slot(candidate); })) failed.push_back(i);
        }
        if (interrupted()) {
            for (auto& candidate : alive_) candidate.rounds.resize(round);
            return false;
        }
        std::ranges::sort(failed, std::ranges::greater{});
        for (const std::size_t i : failed) {
            alive_[i].rounds.resize(round);
            keep(alive_[i]);
            alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(i));
        }
        return true;
    }

    void run_slot(Candidate& candidate) {
        auto& runner = *candidate.runner;
        std::size_t count = std::clamp<std::size_t>(runner.fitting(kSlotS), 1, kMostInSlot);
        std::vector<double> samples;
        if (protocol_.burst_samples > 0) {
            count =
                std::clamp<std::size_t>(protocol_.burst_samples / alive_.size(), 1, kMostInSlot);
            const double most_s = std::max(1.0, protocol_.burst_s / runner.sample_s());
            count = std::min(count, static_cast<std::size_t>(most_s));
            const double share =
                std::max(static_cast<double>(count) / static_cast<double>(protocol_.burst_samples),
                         static_cast<double>(count) * runner.sample_s() / protocol_.burst_s);
            if (share > left_in_burst_) {
                clock_.sleep(protocol_.idle_s);
                runner.append(samples, 1);  // wakes the device, as in measure/sampler.h
                samples.clear();
                left_in_burst_ = 1;
            }
            left_in_burst_ -= share;
        }
        runner.append(samples, count);
        candidate.rounds.push_back(stats::median(samples));
    }

    // All who live have the same rounds, so a round's mean logarithm is common to them.
    void score() {
        const std::size_t rounds = alive_.front().rounds.size();
        std::vector<std::vector<double>> relative(alive_.size());
        for (std::size_t round = 0; round < rounds; ++round) {
            double mean = 0;
            for (const auto& candidate : alive_) mean += std::log(candidate.rounds[round]);
            mean /= static_cast<double>(alive_.size());
            for (std::size_t i = 0; i < alive_.size(); ++i) {
                relative[i].push_back(std::log(alive_[i].rounds[round]) - mean);
            }
        }
        std::vector<double> off;
        for (std::size_t i = 0; i < alive_.size(); ++i) {
            alive_[i].score = stats::median(relative[i]);
            for (const double value : relative[i]) off.push_back(std::abs(value - alive_[i].score));
        }
        // The standard deviation of a normal distribution by its median deviation, which no outlier
        // moves; few rounds lie closer to their own median than to the true one.
        const double r = static_cast<double>(rounds);
        noise_ = r > 1 ? 1.4826 * stats::median(off) * std::sqrt(r / (r - 1)) : 0;
        noise_ = std::max(noise_, kLeastNoise);
        // A mean knows more than a median, once outliers are brought in.
        for (std::size_t i = 0; i < alive_.size(); ++i) {
            const double middle = alive_[i].score;
            for (double& value : relative[i]) {
                value = std::clamp(value, middle - 2 * noise_, middle + 2 * noise_);
            }
            alive_[i].score = stats::mean(relative[i]);
        }
    }

    const Candidate& leader() const {
        return *std::ranges::min_element(alive_, {}, [](const Candidate& candidate) {
            return candidate.rounds.empty() ? std::log(candidate.shortest) : candidate.score;
        });
    }

    // True when further rounds can't tell anything worth knowing.
    bool drop_losers(std::size_t rounds) {
        double margin = std::log(kFarSlower) / static_cast<double>(rounds);
        if (rounds >= kFewestRounds) {
            margin = kSurely * noise_ * std::sqrt(2.0 / static_cast<double>(rounds));
        }
        const double best = leader().score;
        drop([&](const Candidate& candidate) { return candidate.score > best + margin; });
        return margin < kCloseEnough;
    }

    void drop_half() {
        std::vector<double> scores;
        for (const auto& candidate : alive_) scores.push_back(candidate.score);
        std::ranges::sort(scores);
        const double last = scores[(scores.size() - 1) / 2];
        drop([&](const Candidate& candidate) { return candidate.score > last; });
    }

    const OpenCandidate& open_;
    Clock& clock_;
    const Protocol& protocol_;
    const TuneOptions& options_;
    Tuning tuning_;
    std::vector<Candidate> alive_;
    double budget_left_ = 0;
    double left_in_burst_ = 0;  // share of the present burst
    double noise_ = 0;          // relative, of one round of one candidate
};

}  // namespace

std::size_t Tuning::tried() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        trials, [](const Trial& trial) { return std::isfinite(trial.seconds); }));
}

Tuning tune(std::size_t candidates, const OpenCandidate& open, Clock& clock,
            const Protocol& protocol, const TuneOptions& options) {
    return Search(open, clock, protocol, options, candidates).run();
}

std::vector<Alternative> interleave_under(const Protocol& protocol,
                                          std::span<Subject* const> subjects, Clock& clock,
                                          double limit_s) {
    constexpr std::size_t kRoundsInBurst = 4;
    InterleaveOptions options;
    options.round_s = 0.02;
    options.limit_s = limit_s;
    options.clear_between = protocol.clear_between;
    if (protocol.burst_samples > 0) {
        const std::size_t parts = kRoundsInBurst * std::max<std::size_t>(1, subjects.size());
        options.idle_s = protocol.idle_s;
        options.burst_samples = protocol.burst_samples;
        options.burst_s = protocol.burst_s;
        options.round_s = protocol.burst_s / static_cast<double>(parts);
        options.most_samples = std::max<std::size_t>(1, protocol.burst_samples / parts);
    }
    return interleave(subjects, clock, options);
}

}  // namespace assay::measure
