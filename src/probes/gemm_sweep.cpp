#include "probes/gemm_sweep.h"

#include <span>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/time.h"
#include "measure/interleave.h"
#include "ops/matmul.h"
#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"
#include "probes/sampled.h"
#include "probes/size_sweep.h"
#include "stats/quantile.h"
#include "work/matmul.h"

namespace assay::probes {

namespace {

std::string label(const Sweep& sweep, std::size_t i) {
    return fmt::format("{}={}", sweep.dimension, sweep.sizes[i]);
}

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
    return {text[0], parse_swept_sizes(text.substr(2), text, hint)};
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
    std::vector<stats::Ratio> cliffs;
    for (const auto& cliff : find_cliffs(rounds)) cliffs.push_back(cliff.ratio);
    std::size_t samples = 0;
    for (const auto& times : rounds) samples += times.size();
    return cliff_metrics(
        cliffs, rounds.front().size(), samples,
        "sizes that take longer than a larger size of the sweep: the 95 % interval "
        "of the ratio by round lies wholly above 1.015",
        "time at the worst cliff over the time at the larger size to pad to; 1 "
        "without a cliff");
}

}  // namespace assay::probes
