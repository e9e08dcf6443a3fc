#include "probes/gemm_tuned.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/runner.h"
#include "measure/settle.h"
#include "measure/summary.h"
#include "measure/tune.h"
#include "probes/kept_winners.h"
#include "stats/verdict.h"

namespace assay::probes {

namespace {

// Host seconds, without settling: of all, of the search in it, of the comparison after it.
constexpr double kTuningTime = 4.8;
constexpr double kSearchTime = 3;
constexpr double kCompareTime = 1.3;
constexpr double kLeastTime = 0.3;  // whatever came before
constexpr double kLongestSettling = 6;
constexpr double kOverrun = 0.1;  // of the search, where few are close
// Kept for another shape: the fastest of one are seldom far behind on its neighbour.
constexpr std::size_t kKnown = 8;
constexpr std::int64_t kFurtherRows = 128;
constexpr std::size_t kLargestLeak = std::size_t{64} << 20;
constexpr std::size_t kNamed = 10;  // algorithms a setting names

using Names = std::vector<std::string>;

Names distinct(const Names& names) {
    Names once;
    for (const auto& name : names) {
        if (std::ranges::find(once, name) == once.end()) once.push_back(name);
    }
    return once;
}

std::string listed(const Names& names) {
    const auto shown = std::min(names.size(), kNamed);
    auto text = join(std::span(names).first(shown), "; ");
    if (names.size() > shown) text += fmt::format("; and {} more", names.size() - shown);
    return text;
}

// A prepared product and the subject that times it.
class OwningSubject final : public measure::Subject {
  public:
    OwningSubject(std::unique_ptr<ops::PreparedMatmul> prepared, const std::string& name,
                  device::Device& device, const RotatingOperands& operands,
                  const std::function<void()>& clear)
        : prepared_(std::move(prepared)),
          subject_(rotating_subject(name, device, *prepared_, operands, clear)) {}

    std::string name() const override { return subject_->name(); }
    void run(std::span<double> seconds, int calls_per_sample) override {
        subject_->run(seconds, calls_per_sample);
    }
    std::span<const double> clock_mhz() const override { return subject_->clock_mhz(); }
    void clear_caches() override { subject_->clear_caches(); }
    double resolution() const override { return subject_->resolution(); }

  private:
    std::unique_ptr<ops::PreparedMatmul> prepared_;
    std::unique_ptr<measure::StreamSubject> subject_;
};

// Algorithms of one product, checked before they are timed.
class Contest {
  public:
    Contest(const work::Matmul& problem, const RotatingOperands& operands,
            const MatmulChecker& checker, const std::function<void()>& clear, Bench& bench)
        : problem_(problem),
          operands_(operands),
          checker_(checker),
          clear_(clear),
          bench_(bench),
          op_(bench.device.need<ops::Matmul>()) {}

    // The library's own list, its choice first, and at most so many more.
    Names names(std::size_t enumerated) { return distinct(op_.algorithms(problem_, enumerated)); }

    // Null when its answer is wrong.
    std::unique_ptr<measure::Subject> open(const std::string& name) {
        auto prepared = op_.prepare(problem_, {"", name});
        checker_.poison(bench_.device, operands_.set(0));
        const auto stream = bench_.device.create_stream();
        prepared->enqueue(*stream, operands_.set(0));
        stream->synchronize();
        const auto check = checker_.check(bench_.device, operands_.set(0));
        if (!check.passed) {
            wrong_.push_back(name + ": " + check.detail);
            return nullptr;
        }
        return std::make_unique<OwningSubject>(std::move(prepared), name, bench_.device, operands_,
                                               clear_);
    }

    measure::Tuning search(const Names& names, double budget_s) {
        auto tuning = measure::tune(names.size(), [&](std::size_t i) { return open(names[i]); },
                                    bench_.clock, bench_.protocol, {budget_s, kOverrun});
        throw_if_interrupted();
        settled_s_ += tuning.settle_s;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto& failure = tuning.trials[i].failure;
            if (!failure.empty()) dropped_.push_back(names[i] + ": " + failure);
        }
        return tuning;
    }

    // The library's own choice, then the winner, both prepared and checked.
    std::vector<measure::Alternative> compare(ops::PreparedMatmul& own, ops::PreparedMatmul& winner,
                                              double limit_s) {
        const auto first = rotating_subject("heuristic", bench_.device, own, operands_, clear_);
        const auto second = rotating_subject("tuned", bench_.device, winner, operands_, clear_);
        settle_once(*first);
        const std::vector<measure::Subject*> pair{first.get(), second.get()};
        auto compared = measure::interleave_under(bench_.protocol, pair, bench_.clock, limit_s);
        throw_if_interrupted();
        return compared;
    }

    double settled_s() const { return settled_s_; }  // of all searches

    // Is a winner of an earlier search still one that can be used? `why` when not.
    bool usable(const std::string& name, std::string& why) {
        try {
            if (open(name)) return true;
            why = "its answer is wrong";
        } catch (const DeviceLost&) {
            throw;
        } catch (const Interrupted&) {
            throw;
        } catch (const Error& error) {
            why = error.what();
        }
        return false;
    }

    void report(record::Result& result) const {
        auto& settings = result.conditions.settings;
        const auto add = [&](const char* setting, const Names& names) {
            if (!names.empty()) settings[setting] = listed(distinct(names));
        };
        add("wrong algorithms", wrong_);
        add("dropped algorithms", dropped_);
    }

  private:
    // A winner known from before is compared without a search that has settled. What is interleaved
    // needn't wait for the last percent of a steady rate.
    void settle_once(measure::Subject& subject) {
        if (!bench_.protocol.settle || settled_s_ > 0) return;
        auto protocol = bench_.protocol;
        protocol.settle_limit_s = std::min(protocol.settle_limit_s, kLongestSettling);
        const double start = bench_.clock.now();
        measure::Runner runner(subject, bench_.clock, protocol.clear_between);
        measure::settle(runner, bench_.clock, protocol);
        throw_if_interrupted();
        settled_s_ += bench_.clock.now() - start;
    }

    work::Matmul problem_;
    const RotatingOperands& operands_;
    const MatmulChecker& checker_;
    const std::function<void()>& clear_;
    Bench& bench_;
    ops::Matmul& op_;
    double settled_s_ = 0;
    Names wrong_, dropped_;
};

// A wider search may find another winner.
measure::WinnerKey key_of(MatmulCase matmul, std::size_t enumerated,
                          const ops::Implementation& library, const Bench& bench) {
    matmul.algorithm = Algorithm::heuristic;
    auto what = to_case(matmul);
    what.set("algorithms", std::to_string(enumerated), std::to_string(kEnumerated));
    return {bench.device.facts().name,
            fmt::format("{} {} {}", library.library, library.library_version, library.library_file),
            what.text(), bench.protocol.name};
}

std::size_t held(device::Device& device) {
    const auto memory = device.memory();
    return memory.total - memory.free;
}

record::Check memory_returned(std::size_t before, std::size_t after) {
    const auto text = [](std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); };
    return {"memory returned", after <= before + kLargestLeak,
            fmt::format("{} of the device held before tuning, {} after it; at most {} more are "
                        "taken for a library's own",
                        text(before), text(after), text(kLargestLeak))};
}

// The fastest first.
Names ranked(const Names& names, const measure::Tuning& tuning) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (std::isfinite(tuning.trials[i].seconds)) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        return std::pair(i != tuning.winner, tuning.trials[i].seconds);
    });
    Names best;
    for (const auto i : order) best.push_back(names[i]);
    if (best.size() > kKnown) best.resize(kKnown);
    return best;
}

// Host seconds of choosing an algorithm for a few rows more, among the known ones and the library's
// own choice for that shape. Nothing where there is no room for it.
std::optional<double> time_another_shape(MatmulCase matmul, Names known,
                                         const std::function<void()>& clear, Bench& bench,
                                         record::Result& result) {
    matmul.problem.m += kFurtherRows;
    try {
        const RotatingOperands operands(bench.device, matmul, bench.seed);
        const MatmulChecker checker(matmul, bench.seed);
        Contest contest(matmul.problem, operands, checker, clear, bench);
        const double start = bench.clock.now();
        auto names = contest.names(0);
        names.insert(names.end(), known.begin(), known.end());
        contest.search(distinct(names), kSearchTime);
        return bench.clock.now() - start - contest.settled_s();
    } catch (const Unsupported& error) {
        result.conditions.settings["re-tuning"] = error.what();
        return std::nullopt;
    }
}

// How much longer a search may take that looks at more than is usual.
double more_time(std::size_t enumerated) {
    return std::max(1.0, static_cast<double>(enumerated) / static_cast<double>(kEnumerated));
}

// A launch's samples "time" hold the gain, round by round, to be pooled as times are. Where the
// library's own choice won, it is 1 without doubt; `rounds` counts those that were measured.
std::vector<record::Launch> gains_of(std::span<const record::Launch> launches,
                                     std::size_t& rounds) {
    constexpr std::size_t kEnoughForAnInterval = 20;
    std::vector<record::Launch> gains;
    for (const auto& launch : launches) {
        if (!launch.samples.contains("tuning time")) continue;
        auto& values = gains.emplace_back().samples["time"].values;
        const auto own = launch.samples.find("heuristic");
        const auto tuned = launch.samples.find("tuned");
        if (own == launch.samples.end() || tuned == launch.samples.end()) {
            values.assign(kEnoughForAnInterval, 1);
            continue;
        }
        const auto& slow = own->second.values;
        const auto& fast = tuned->second.values;
        for (std::size_t i = 0; i < slow.size() && i < fast.size(); ++i) {
            values.push_back(slow[i] / fast[i]);
        }
        rounds += values.size();
    }
    return gains;
}

}  // namespace

TunedChoice choose_algorithm(const MatmulCase& matmul, const TuneRequest& request,
                             ops::PreparedMatmul& heuristic, const RotatingOperands& operands,
                             const MatmulChecker& checker, const std::function<void()>& clear,
                             Bench& bench, record::Result& result) {
    auto& settings = result.conditions.settings;
    const auto before = held(bench.device);
    const double start = bench.clock.now();
    Contest contest(matmul.problem, operands, checker, clear, bench);
    const auto own_list = contest.names(0);
    if (own_list.empty()) {
        throw Unsupported(
            "device " + bench.device.facts().id + " has no algorithms of products to choose from",
            "leave out --algorithm tuned");
    }
    const auto& own = own_list.front();
    const double further_time = (more_time(request.enumerated) - 1) * kSearchTime;
    const auto spent = [&] { return bench.clock.now() - start - contest.settled_s(); };
    const auto left = [&] { return kTuningTime + further_time - spent(); };

    TunedChoice choice;
    auto& samples = choice.samples;
    const auto compare = [&](const std::string& winner) {
        choice.winner = bench.device.need<ops::Matmul>().prepare(matmul.problem, {"", winner});
        const auto compared = contest.compare(heuristic, *choice.winner,
                                              std::clamp(left(), kLeastTime, kCompareTime));
        samples["heuristic"] = {"s", compared[0].seconds};
        samples["tuned"] = {"s", compared[1].seconds};
        return compared[1].verdict;
    };

    const auto key = key_of(matmul, request.enumerated, heuristic.implementation(), bench);
    auto winners = open_winners(result);
    auto winner = winners && !request.anew ? winners->find(key).value_or("") : "";
    std::string why;
    if (!winner.empty() && !contest.usable(winner, why)) {
        settings["earlier winner"] = winner + ": " + why;
        winner.clear();
    }
    auto after = held(bench.device);
    if (!winner.empty() && winner != own && compare(winner) == stats::Verdict::Slower) {
        settings["earlier winner"] = winner + ": slower than the library's own choice";
        winner.clear();
        samples.clear();
        choice.winner.reset();
    }

    const bool hit = !winner.empty();
    settings["cache"] = hit ? "hit" : "miss";
    std::size_t tried = 0;
    Names known{winner};
    if (!hit) {
        const auto names = contest.names(request.enumerated);
        const double most = (left() - kCompareTime) / (1 + kOverrun);
        const auto tuning =
            contest.search(names, std::clamp(most, kLeastTime, kSearchTime + further_time));
        tried = tuning.tried();
        winner = tried > 0 ? names[tuning.winner] : own;
        known = ranked(names, tuning);
        after = held(bench.device);
        // What this measures is told, and changes the decision no more: the better of two choices
        // by the same rounds would look better than it is.
        if (winner != own) compare(winner);
    }
    samples["tuning time"] = {"s", {spent()}};
    samples["algorithms tried"] = {"algorithms", {static_cast<double>(tried)}};
    if (contest.settled_s() > 0) settings["settling"] = format_seconds(contest.settled_s());
    settings["memory held before"] = std::to_string(before);
    settings["memory held after"] = std::to_string(after);
    result.checks.push_back(memory_returned(before, after));

    settings["winner"] = winner;
    if (winners) {
        if (tried > 0) keep_winner(*winners, key, winner, result);
        if (!winners->note().empty()) settings["winners file"] = winners->note();
    }
    if (request.time_again) {
        if (const auto seconds = time_another_shape(matmul, known, clear, bench, result)) {
            samples["re-tuning time"] = {"s", {*seconds}};
        }
    }
    contest.report(result);
    return choice;
}

std::vector<record::Metric> tuned_metrics(std::span<const record::Launch> launches) {
    std::map<std::string, double> largest;
    for (const auto& launch : launches) {
        for (const auto* name : {"tuning time", "algorithms tried", "re-tuning time"}) {
            const auto found = launch.samples.find(name);
            if (found == launch.samples.end() || found->second.values.empty()) continue;
            largest[name] = std::max(largest[name], found->second.values.front());
        }
    }

    std::vector<record::Metric> metrics;
    const auto add = [&](const char* name, const char* unit, record::Better better,
                         const char* definition) -> record::Metric& {
        auto& metric = metrics.emplace_back();
        metric.name = name;
        metric.unit = unit;
        metric.better = better;
        metric.definition = definition;
        return metric;
    };
    if (largest.empty()) return metrics;  // nothing was tuned: a wrong answer
    std::size_t rounds = 0;
    const auto gains = gains_of(launches, rounds);
    auto& gain = metrics.emplace_back(measure::time_metric(
        "tuned gain",
        "time of the library's own choice over the time of the algorithm that the search chose, in "
        "interleaved rounds after the search; 1 where it chose the library's own",
        gains));
    gain.unit = "ratio";
    gain.better = record::Better::higher;
    gain.n = rounds;
    gain.effective_n.reset();
    gain.steady.reset();
    gain.trustworthy.reset();  // of samples: rounds tell more each
    const auto add_largest = [&](const char* name, const char* unit, record::Better better,
                                 const char* definition) {
        if (largest.contains(name)) add(name, unit, better, definition).value = largest.at(name);
    };
    add_largest("tuning time", "s", record::Better::lower,
                "host time of listing the algorithms, the search and the comparison, without the "
                "protocol's settling, the longest of the launches; with a winner known from "
                "before, of checking and comparing it");
    add_largest("algorithms tried", "algorithms", record::Better::neither,
                "distinct algorithms that were timed; 0 with a winner known from before");
    add_largest("re-tuning time", "s", record::Better::lower,
                "host time of choosing for M + 128 among the library's own choice and the fastest "
                "8 of this shape");
    return metrics;
}

}  // namespace assay::probes
