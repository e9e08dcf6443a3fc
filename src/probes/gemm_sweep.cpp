#include "probes/gemm_sweep.h"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/range.h"
#include "base/time.h"
#include "measure/interleave.h"
#include "ops/matmul.h"
#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"
#include "probes/sampled.h"
#include "stats/quantile.h"
#include "stats/ratio.h"
#include "work/matmul.h"

namespace assay::probes {

namespace {

std::string label(const Sweep& sweep, std::size_t i) {
    return fmt::format("{}={}", sweep.dimension, sweep.sizes[i]);
}

// Fewer rounds have no 95 % interval between two of their values (stats/interval.h).
constexpr std::size_t kFewestRounds = 6;

struct Cliff {
    std::size_t at, pad_to;
    stats::Ratio ratio;  // time at this size over the time at the larger one
};

using Rounds = std::vector<std::vector<double>>;  // seconds of each size, by round

// Of all launches together: each has a value of every size in a round.
Rounds rounds_of(const Sweep& sweep, std::span<const record::Launch> launches) {
    Rounds rounds(sweep.sizes.size());
    for (const auto& launch : launches) {
        for (std::size_t i = 0; i < rounds.size(); ++i) {
            const auto& values = launch.samples.at(label(sweep, i)).values;
            rounds[i].insert(rounds[i].end(), values.begin(), values.end());
        }
    }
    return rounds;
}

// Sizes with a larger one that surely takes less, each with the larger one that takes the least.
std::vector<Cliff> find_cliffs(const Rounds& rounds) {
    std::vector<Cliff> cliffs;
    if (rounds.front().size() < kFewestRounds) return cliffs;
    std::size_t best = rounds.size() - 1;
    double least = stats::median(rounds[best]);
    for (std::size_t at = best; at-- > 0;) {
        const double time = stats::median(rounds[at]);
        if (time <= least) {
            best = at;
            least = time;
            continue;
        }
        const auto ratio = stats::ratio_of_rounds(rounds[best], rounds[at]);
        if (ratio.interval.lo > 1 + stats::kDefaultMargin) cliffs.push_back({at, best, ratio});
    }
    std::ranges::reverse(cliffs);
    return cliffs;
}

}  // namespace

work::Matmul Sweep::at(work::Matmul problem, std::int64_t size) const {
    (dimension == 'm' ? problem.m : dimension == 'n' ? problem.n : problem.k) = size;
    return problem;
}

Sweep parse_sweep(std::string_view text) {
    const std::string hint = "write a dimension and a range: --sweep n=8064..8320+64";
    if (text.size() < 3 || text[1] != '=' || std::string_view("mnk").find(text[0]) == text.npos) {
        throw UsageError(fmt::format("sweep \"{}\" names no dimension m, n or k", text), hint);
    }
    Sweep sweep{text[0], {}};
    for (const auto size : parse_sizes(text.substr(2))) {
        constexpr std::uint64_t kLargest = std::numeric_limits<std::int32_t>::max();
        if (size < 1 || size > kLargest) {
            throw UsageError(
                fmt::format("{} of sweep \"{}\" is outside 1 to {}", size, text, kLargest), hint);
        }
        sweep.sizes.push_back(static_cast<std::int64_t>(size));
    }
    if (sweep.sizes.size() < 2) {
        throw UsageError(fmt::format("sweep \"{}\" has one size", text), hint);
    }
    if (!std::ranges::is_sorted(sweep.sizes, std::ranges::less_equal{})) {
        throw UsageError(fmt::format("sweep \"{}\" has sizes that don't rise", text), hint);
    }
    return sweep;
}

void measure_sweep(const MatmulCase& matmul, const Sweep& sweep, Bench& bench,
                   record::Result& result) {
    auto& op = bench.device.need<ops::Matmul>();
    const auto size_count = sweep.sizes.size();

    // One set of buffers, of the largest size, serves every size.
    auto largest = matmul;
    largest.problem = sweep.at(matmul.problem, sweep.sizes.back());
    const RotatingOperands operands(bench.device, largest, bench.seed);

    std::vector<std::unique_ptr<ops::PreparedMatmul>> prepared;
    std::vector<std::unique_ptr<measure::StreamSubject>> subjects;
    std::vector<measure::Subject*> alternatives;
    const auto stream = bench.device.create_stream();
    for (std::size_t i = 0; i < size_count; ++i) {
        auto one = matmul;
        one.problem = sweep.at(matmul.problem, sweep.sizes[i]);
        prepared.push_back(op.prepare(one.problem));
        prepared.back()->enqueue(*stream, operands.set(0));
        stream->synchronize();
        auto check = check_matmul(bench.device, one, operands.set(0), bench.seed, 8);
        check.name = "answer " + label(sweep, i);
        const bool passed = check.passed;
        result.checks.push_back(std::move(check));
        if (!passed) return;
        subjects.push_back(
            rotating_subject(label(sweep, i), bench.device, *prepared.back(), operands));
        alternatives.push_back(subjects.back().get());
    }
    describe(prepared.back()->implementation(), bench, result);

    record::Launch launch;
    launch.pid = ::getpid();
    launch.started = utc_now();
    measure::InterleaveOptions options;
    options.limit_s = bench.protocol.limit_s;
    // Verdicts there are against the first size; cliffs are between any two.
    options.min_rounds = 60;
    const auto measured = measure::interleave(alternatives, bench.clock, options);

    if (measured.front().seconds.empty()) throw_if_interrupted();

    record::Series time{"time", std::string(1, sweep.dimension), "s", {}, {}};
    record::Series gain{"padding gain", std::string(1, sweep.dimension), "ratio", {}, {}};
    record::Series pad{"pad to", std::string(1, sweep.dimension), "size", {}, {}};
    for (std::size_t i = 0; i < size_count; ++i) {
        launch.samples[label(sweep, i)] = {"s", measured[i].seconds};
        time.x.push_back(static_cast<double>(sweep.sizes[i]));
        time.y.push_back(stats::median(measured[i].seconds));
    }
    for (const auto& cliff : find_cliffs(rounds_of(sweep, {&launch, 1}))) {
        gain.x.push_back(static_cast<double>(sweep.sizes[cliff.at]));
        gain.y.push_back(cliff.ratio.value);
        pad.x.push_back(static_cast<double>(sweep.sizes[cliff.at]));
        pad.y.push_back(static_cast<double>(sweep.sizes[cliff.pad_to]));
    }
    result.conditions.protocol = "interleaved";
    result.conditions.footprint_bytes = operands.footprint_bytes();
    result.conditions.operand_sets = operands.sets();
    result.series = {std::move(time), std::move(gain), std::move(pad)};
    result.launches.push_back(std::move(launch));
}

std::vector<record::Metric> sweep_metrics(const record::Result& result) {
    if (result.launches.empty()) return {};
    const auto sweep = parse_sweep(result.what.at("sweep"));
    const auto rounds = rounds_of(sweep, result.launches);
    const auto found = find_cliffs(rounds);
    record::Metric cliffs{
        "cliffs",
        "sizes",
        record::Better::lower,
        "sizes that take longer than a larger size of the sweep: the 95 % interval "
        "of the ratio by round lies wholly above 1.015",
        static_cast<double>(found.size()),
        std::nullopt,
        0,
        std::nullopt,
        std::nullopt,
        std::nullopt};
    record::Metric worst = cliffs;
    worst.name = "largest padding gain";
    worst.unit = "ratio";
    worst.definition =
        "time at the worst cliff over the time at the larger size to pad to; 1 "
        "without a cliff";
    worst.value = 1;
    if (rounds.front().size() < kFewestRounds) {  // nothing can be told
        cliffs.value = std::numeric_limits<double>::quiet_NaN();
        worst.value = cliffs.value;
    }
    for (const auto& cliff : found) worst.value = std::max(worst.value, cliff.ratio.value);
    for (const auto& times : rounds) cliffs.n += times.size();
    worst.n = cliffs.n;
    return {cliffs, worst};
}

}  // namespace assay::probes
