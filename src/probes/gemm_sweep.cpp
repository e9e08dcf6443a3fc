#include "probes/gemm_sweep.h"

#include <algorithm>
#include <limits>
#include <optional>

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

work::Matmul with_size(work::Matmul problem, char dimension, std::int64_t size) {
    (dimension == 'm' ? problem.m : dimension == 'n' ? problem.n : problem.k) = size;
    return problem;
}

std::string label(const Sweep& sweep, std::size_t i) {
    return fmt::format("{}={}", sweep.dimension, sweep.sizes[i]);
}

struct Cliff {
    std::size_t at, pad_to;
    stats::Ratio ratio;  // time at this size over the time at the larger one
};

// The larger size that takes the least time, where it surely takes less than this one.
std::optional<Cliff> cliff_at(std::size_t at, const std::vector<std::vector<double>>& rounds) {
    std::size_t best = at;
    for (std::size_t j = at + 1; j < rounds.size(); ++j) {
        if (stats::median(rounds[j]) < stats::median(rounds[best])) best = j;
    }
    if (best == at) return std::nullopt;
    const auto ratio = stats::ratio_of_rounds(rounds[best], rounds[at]);
    if (ratio.interval.lo <= 1 + stats::kDefaultMargin) return std::nullopt;
    return Cliff{at, best, ratio};
}

}  // namespace

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
    largest.problem = with_size(matmul.problem, sweep.dimension, sweep.sizes.back());
    work::validate(largest.problem);
    const RotatingOperands operands(bench.device, largest, bench.seed);

    std::vector<std::unique_ptr<ops::PreparedMatmul>> prepared;
    std::vector<std::unique_ptr<measure::StreamSubject>> subjects;
    std::vector<measure::Subject*> alternatives;
    const auto stream = bench.device.create_stream();
    for (std::size_t i = 0; i < size_count; ++i) {
        auto one = matmul;
        one.problem = with_size(matmul.problem, sweep.dimension, sweep.sizes[i]);
        work::validate(one.problem);
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
    describe(prepared.back()->implementation(), result);

    record::Launch launch;
    launch.pid = ::getpid();
    launch.started = utc_now();
    measure::InterleaveOptions options;
    options.limit_s = bench.protocol.limit_s;
    const auto measured = measure::interleave(alternatives, bench.clock, options);

    if (measured.front().seconds.empty()) throw_if_interrupted();

    std::vector<std::vector<double>> rounds;
    record::Series time{"time", std::string(1, sweep.dimension), "s", {}, {}};
    record::Series gain{"padding gain", std::string(1, sweep.dimension), "ratio", {}, {}};
    record::Series pad{"pad to", std::string(1, sweep.dimension), "size", {}, {}};
    for (std::size_t i = 0; i < size_count; ++i) {
        launch.samples[label(sweep, i)] = {"s", measured[i].seconds};
        rounds.push_back(measured[i].seconds);
        time.x.push_back(static_cast<double>(sweep.sizes[i]));
        time.y.push_back(stats::median(measured[i].seconds));
    }
    for (std::size_t i = 0; i < size_count; ++i) {
        if (const auto cliff = cliff_at(i, rounds)) {
            gain.x.push_back(static_cast<double>(sweep.sizes[i]));
            gain.y.push_back(cliff->ratio.value);
            pad.x.push_back(static_cast<double>(sweep.sizes[i]));
            pad.y.push_back(static_cast<double>(sweep.sizes[cliff->pad_to]));
        }
    }
    result.conditions.protocol = "interleaved";
    result.conditions.footprint_bytes = operands.footprint_bytes();
    result.conditions.operand_sets = operands.sets();
    result.series = {std::move(time), std::move(gain), std::move(pad)};
    result.launches.push_back(std::move(launch));
}

std::vector<record::Metric> sweep_metrics(const record::Result& result) {
    const auto series = std::ranges::find(result.series, "padding gain", &record::Series::name);
    if (series == result.series.end()) return {};
    record::Metric cliffs{
        "cliffs",
        "sizes",
        record::Better::lower,
        "sizes that take longer than a larger size of the sweep: the 95 % interval "
        "of the ratio by round lies wholly above 1.015",
        static_cast<double>(series->x.size()),
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
    worst.value = series->y.empty() ? 1.0 : *std::ranges::max_element(series->y);
    for (const auto& launch : result.launches) {
        for (const auto& [name, samples] : launch.samples) cliffs.n += samples.values.size();
    }
    worst.n = cliffs.n;
    return {cliffs, worst};
}

}  // namespace assay::probes
