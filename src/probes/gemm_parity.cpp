#include "probes/gemm_parity.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/time.h"
#include "measure/interleave.h"
#include "measure/stream_subject.h"
#include "ops/matmul.h"
#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"
#include "probes/sampled.h"
#include "stats/interval.h"
#include "stats/quantile.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

constexpr std::size_t kRounds = 40;  // at least, where the limit allows

struct Path {
    std::string name;
    std::string entry;
    MatmulCase matmul;
};

work::Epilogue with_bias(work::Epilogue epilogue) {
    return work::has_gelu(epilogue) ? work::Epilogue::bias_gelu : work::Epilogue::bias;
}

std::vector<Path> paths_of(const MatmulCase& matmul, Parity parity, const ops::Matmul& op) {
    std::vector<Path> paths;
    if (parity == Parity::layouts) {
        for (const auto layout :
             {work::Layout::nn, work::Layout::nt, work::Layout::tn, work::Layout::tt}) {
            auto one = matmul;
            one.problem.layout = layout;
            paths.push_back({"layout " + std::string(work::name(layout)), "", one});
        }
        return paths;
    }
    auto biased = matmul;
    biased.problem.epilogue = with_bias(matmul.problem.epilogue);
    auto entries = op.entries();
    if (entries.empty()) entries.emplace_back();
    for (const auto& entry : entries) {
        const std::string name = entry.empty() ? "default" : entry;
        paths.push_back({name, entry, matmul});
        paths.push_back({name + " with bias", entry, biased});
    }
    return paths;
}

// A path that is ready to be timed.
struct Runner {
    std::unique_ptr<ops::PreparedMatmul> prepared;
    std::unique_ptr<measure::StreamSubject> subject;
};

Runner runner_of(const Path& path, ops::Matmul& op, Bench& bench,
                 const RotatingOperands& operands) {
    Runner runner;
    runner.prepared = op.prepare(path.matmul.problem, {path.entry, ""});
    const bool bias = work::has_bias(path.matmul.problem.epilogue);
    runner.subject = std::make_unique<measure::StreamSubject>(
        path.name, bench.device,
        [&matmul = *runner.prepared, &operands, bias](device::Stream& stream, std::size_t call) {
            auto set = operands.set(call);
            if (!bias) set.bias = nullptr;
            matmul.enqueue(stream, set);
        });
    return runner;
}

bool answers_right(const Path& path, Runner& runner, Bench& bench, const RotatingOperands& operands,
                   record::Result& result) {
    const MatmulChecker checker(path.matmul, bench.seed);
    auto set = operands.set(0);
    if (!work::has_bias(path.matmul.problem.epilogue)) set.bias = nullptr;
    checker.poison(bench.device, set);
    const auto stream = bench.device.create_stream();
    runner.prepared->enqueue(*stream, set);
    stream->synchronize();
    auto check = checker.check(bench.device, set);
    check.name = "answer " + path.name;
    result.checks.push_back(std::move(check));
    return result.checks.back().passed;
}

using Rounds = std::map<std::string, std::vector<double>>;  // seconds of each path

// Of all launches together: each has a value of every path in a round. A path that a launch lacks
// is left out.
Rounds rounds_of(const std::vector<record::Launch>& launches) {
    Rounds rounds;
    std::size_t all = 0;
    for (const auto& launch : launches) {
        std::size_t longest = 0;
        for (const auto& [path, samples] : launch.samples) {
            auto& seconds = rounds[path];
            seconds.insert(seconds.end(), samples.values.begin(), samples.values.end());
            longest = std::max(longest, samples.values.size());
        }
        all += longest;
    }
    std::erase_if(rounds, [&](const auto& path) { return path.second.size() != all; });
    return rounds;
}

}  // namespace

Parity parse_parity(std::string_view word) {
    if (word == "entries") return Parity::entries;
    if (word == "layouts") return Parity::layouts;
    static const std::array<std::string, 2> known{"entries", "layouts"};
    throw_unknown("parity", word, known);
}

void measure_parity(const MatmulCase& matmul, Parity parity, Bench& bench, record::Result& result) {
    auto& op = bench.device.need<ops::Matmul>();
    // One set of buffers serves every path, the bias included.
    auto largest = matmul;
    largest.problem.epilogue = with_bias(matmul.problem.epilogue);
    const RotatingOperands operands(bench.device, largest, bench.seed);
    auto& settings = result.conditions.settings;
    if (!operands.note().empty()) settings["cold"] = operands.note();

    std::vector<Runner> runners;
    std::vector<measure::Subject*> subjects;
    std::vector<std::string> left_out;
    for (const auto& path : paths_of(matmul, parity, op)) {
        Runner runner;
        try {
            runner = runner_of(path, op, bench, operands);
        } catch (const Unsupported& error) {
            left_out.push_back(path.name + ": " + error.what());
            continue;
        }
        if (!answers_right(path, runner, bench, operands, result)) return;
        const auto& implementation = runner.prepared->implementation();
        if (runners.empty()) describe(implementation, bench, result);
        settings["path " + path.name] = implementation.library + " " + implementation.algorithm;
        subjects.push_back(runner.subject.get());
        runners.push_back(std::move(runner));
    }
    if (!left_out.empty()) settings["left out"] = join(left_out, "; ");
    if (runners.empty()) throw Unsupported("no path to this product: " + settings["left out"]);

    record::Launch launch;
    launch.pid = ::getpid();
    launch.started = utc_now();
    measure::InterleaveOptions options;
    options.limit_s = bench.protocol.limit_s;
    // Verdicts there are against the first path; the best may be any.
    options.min_rounds = kRounds;
    for (auto& path : measure::interleave(subjects, bench.clock, options)) {
        if (path.seconds.empty()) throw_if_interrupted();
        launch.samples[path.name] = {"s", std::move(path.seconds)};
    }
    result.conditions.protocol = "interleaved";
    result.conditions.footprint_bytes = operands.footprint_bytes();
    result.conditions.operand_sets = operands.sets();
    result.launches.push_back(std::move(launch));
}

std::vector<record::Metric> parity_metrics(const record::Result& result) {
    const auto rounds = rounds_of(result.launches);
    if (rounds.empty()) return {};
    const auto best = std::ranges::min_element(
        rounds, {}, [](const auto& path) { return stats::median(path.second); });
    const double tflop = work::flop(matmul_from_case(result.what).problem) / 1e12;

    std::vector<record::Metric> metrics;
    for (const auto& [path, seconds] : rounds) {
        const auto time = stats::estimate_median(seconds);
        const auto ratio = stats::ratio_of_rounds(best->second, seconds);
        const bool enough = seconds.size() >= stats::kFewestRounds;
        metrics.push_back({"throughput of " + path, "TFLOP/s", record::Better::higher,
                           "2 M N K batch / median over rounds of the time of one call",
                           tflop / time.median,
                           std::pair{tflop / time.interval.hi, tflop / time.interval.lo}, time.n,
                           time.effective_n, std::nullopt, enough});
        metrics.push_back({"time ratio of " + path, "ratio", record::Better::lower,
                           "its time over that of the best path of the comparison, round by round",
                           ratio.value, std::pair{ratio.interval.lo, ratio.interval.hi}, time.n,
                           time.effective_n, std::nullopt, enough});
    }
    return metrics;
}

}  // namespace assay::probes
