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
#include "measure/tune.h"
#include "measure/winners.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

// Beyond the library's own list. Looking at one costs a few calls.
constexpr std::size_t kEnumerated = 32;
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
                  device::Device& device, const RotatingOperands& operands)
        : prepared_(std::move(prepared)),
          subject_(rotating_subject(name, device, *prepared_, operands)) {}

    std::string name() const override { return subject_->name(); }
    void run(std::span<double> seconds, int calls_per_sample) override {
        subject_->run(seconds, calls_per_sample);
    }
    std::span<const double> clock_mhz() const override { return subject_->clock_mhz(); }
    double resolution() const override { return subject_->resolution(); }

  private:
    std::unique_ptr<ops::PreparedMatmul> prepared_;
    std::unique_ptr<measure::StreamSubject> subject_;
};

// Algorithms of one product, checked before they are timed.
class Contest {
  public:
    Contest(const work::Matmul& problem, const RotatingOperands& operands,
            const MatmulChecker& checker, Bench& bench)
        : problem_(problem),
          operands_(operands),
          checker_(checker),
          bench_(bench),
          op_(bench.device.need<ops::Matmul>()) {}

    Names names() { return distinct(op_.algorithms(problem_, kEnumerated)); }

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
        return std::make_unique<OwningSubject>(std::move(prepared), name, bench_.device, operands_);
    }

    measure::Tuning search(const Names& names) {
        auto tuning = measure::tune(
            names.size(), [&](std::size_t i) { return open(names[i]); }, bench_.clock,
            bench_.protocol);
        throw_if_interrupted();
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto& failure = tuning.trials[i].failure;
            if (!failure.empty()) dropped_.push_back(names[i] + ": " + failure);
        }
        return tuning;
    }

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
    work::Matmul problem_;
    const RotatingOperands& operands_;
    const MatmulChecker& checker_;
    Bench& bench_;
    ops::Matmul& op_;
    Names wrong_, dropped_;
};

measure::WinnerKey key_of(MatmulCase matmul, const ops::Implementation& library,
                          const Bench& bench) {
    matmul.algorithm = Algorithm::heuristic;
    return {bench.device.facts().name,
            fmt::format("{} {} {}", library.library, library.library_version, library.library_file),
            to_case(matmul).text(), bench.protocol.name};
}

// The winners on disk; without a home folder there are none.
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
std::optional<double> time_another_shape(MatmulCase matmul, Names known, Bench& bench,
                                         record::Result& result) {
    matmul.problem.m += kFurtherRows;
    try {
        const RotatingOperands operands(bench.device, matmul, bench.seed);
        const MatmulChecker checker(matmul, bench.seed);
        Contest contest(matmul.problem, operands, checker, bench);
        const double start = bench.clock.now();
        auto names = bench.device.need<ops::Matmul>().algorithms(matmul.problem, 0);
        names.insert(names.end(), known.begin(), known.end());
        contest.search(distinct(names));
        return bench.clock.now() - start;
    } catch (const Unsupported& error) {
        result.conditions.settings["re-tuning"] = error.what();
        return std::nullopt;
    }
}

}  // namespace

TunedChoice choose_algorithm(const MatmulCase& matmul, const TuneRequest& request,
                             ops::PreparedMatmul& heuristic, const RotatingOperands& operands,
                             const MatmulChecker& checker, Bench& bench, record::Result& result) {
    auto& settings = result.conditions.settings;
    const auto before = held(bench.device);
    const double start = bench.clock.now();
    Contest contest(matmul.problem, operands, checker, bench);
    const auto names = contest.names();
    if (names.empty()) {
        throw Unsupported(
            "device " + bench.device.facts().id + " has no algorithms of products to choose from",
            "leave out --algorithm tuned");
    }

    const auto key = key_of(matmul, heuristic.implementation(), bench);
    auto winners = open_winners(result);
    std::string winner;
    if (winners && !request.anew) {
        winner = winners->find(key).value_or("");
        std::string why;
        if (!winner.empty() && !contest.usable(winner, why)) {
            settings["earlier winner"] = winner + ": " + why;
            winner.clear();
        }
    }
    const bool hit = !winner.empty();
    settings["cache"] = hit ? "hit" : "miss";
    std::size_t tried = 0;
    Names known{winner};
    if (!hit) {
        const auto tuning = contest.search(names);
        tried = tuning.tried();
        winner = tried > 0 ? names[tuning.winner] : names.front();
        known = ranked(names, tuning);
    }
    TunedChoice choice;
    auto& samples = choice.samples;
    samples["tuning time"] = {"s", {bench.clock.now() - start}};
    samples["algorithms tried"] = {"algorithms", {static_cast<double>(tried)}};
    const auto after = held(bench.device);
    settings["memory held before"] = std::to_string(before);
    settings["memory held after"] = std::to_string(after);
    result.checks.push_back(memory_returned(before, after));

    if (winner != names.front()) {
        choice.winner = bench.device.need<ops::Matmul>().prepare(matmul.problem, {"", winner});
        const auto own = rotating_subject("heuristic", bench.device, heuristic, operands);
        const auto tuned = rotating_subject("tuned", bench.device, *choice.winner, operands);
        const std::vector<measure::Subject*> pair{own.get(), tuned.get()};
        const auto compared = measure::interleave_under(bench.protocol, pair, bench.clock);
        throw_if_interrupted();
        if (compared[1].ratio.value < 1) {
            samples["heuristic"] = {"s", compared[0].seconds};
            samples["tuned"] = {"s", compared[1].seconds};
        } else {  // the search was misled by noise, or an earlier winner no longer wins
            winner = names.front();
            choice.winner.reset();
        }
    }
    settings["winner"] = winner;
    if (winners) {
        if (tried > 0) keep_winner(*winners, key, winner, result);
        if (!winners->note().empty()) settings["winners file"] = winners->note();
    }
    if (request.time_again) {
        if (const auto seconds = time_another_shape(matmul, known, bench, result)) {
            samples["re-tuning time"] = {"s", {*seconds}};
        }
    }
    contest.report(result);
    return choice;
}

std::vector<record::Metric> tuned_metrics(std::span<const record::Launch> launches) {
    std::vector<double> own, tuned;
    std::map<std::string, double> largest;
    for (const auto& launch : launches) {
        const auto append = [&](const char* name, std::vector<double>& all) {
            const auto found = launch.samples.find(name);
            if (found == launch.samples.end()) return;
            all.insert(all.end(), found->second.values.begin(), found->second.values.end());
        };
        append("heuristic", own);
        append("tuned", tuned);
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
    auto& gain = add("tuned gain", "ratio", record::Better::higher,
                     "time of the library's own choice over the time of the fastest algorithm, in "
                     "interleaved rounds; 1 where its own choice is the fastest");
    gain.value = 1;
    if (!own.empty()) {
        const auto ratio = stats::ratio_of_rounds(tuned, own);
        gain.value = ratio.value;
        gain.interval = {ratio.interval.lo, ratio.interval.hi};
        gain.n = own.size();
    }
    const auto add_largest = [&](const char* name, const char* unit, record::Better better,
                                 const char* definition) {
        if (largest.contains(name)) add(name, unit, better, definition).value = largest.at(name);
    };
    add_largest("tuning time", "s", record::Better::lower,
                "host time until the winner was known, the longest of the launches; with a winner "
                "known from before, of finding and checking it");
    add_largest("algorithms tried", "algorithms", record::Better::neither,
                "distinct algorithms that were timed; 0 with a winner known from before");
    add_largest("re-tuning time", "s", record::Better::lower,
                "host time of choosing for M + 128 among the library's own choice and the fastest "
                "8 of this shape");
    return metrics;
}

}  // namespace assay::probes
