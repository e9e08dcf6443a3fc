#include "probes/gemm.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/range.h"
#include "base/units.h"
#include "measure/summary.h"
#include "ops/matmul.h"
#include "probes/cache_clearer.h"
#include "probes/efficiency.h"
#include "probes/gemm_methods.h"
#include "probes/gemm_parity.h"
#include "probes/gemm_sweep.h"
#include "probes/gemm_tuned.h"
#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"
#include "probes/matmul_problem.h"
#include "probes/sampled.h"

namespace assay::probes {

namespace {

work::Type type_or(const Options& options, const char* option, work::Type otherwise) {
    const auto& word = options.at(option);
    return word.empty() ? otherwise : work::parse_type(word);
}

std::pair<float, float> parse_scales(const std::string& text) {
    const auto words = parse_words(text, "--scales");
    if (words.size() != 2) {
        throw UsageError(fmt::format("--scales \"{}\" isn't two numbers", text),
                         "write the scales of A and B as 0.5,2");
    }
    const auto number = [](const std::string& word) {
        return static_cast<float>(parse_number(word, "--scales"));
    };
    return {number(words[0]), number(words[1])};
}

TuneRequest request_of(const record::Case& what) {
    TuneRequest request{what.has("retune"), what.has("retune_time")};
    if (what.has("algorithms")) {
        request.enumerated = static_cast<std::size_t>(what.integer("algorithms"));
    }
    return request;
}

void measure_plain(const MatmulCase& matmul, const TuneRequest& request, Bench& bench,
                   record::Result& result) {
    auto prepared = bench.device.need<ops::Matmul>().prepare(matmul.problem);
    describe(prepared->implementation(), bench, result);
    const RotatingOperands operands(bench.device, matmul, bench.seed);
    if (!operands.note().empty()) result.conditions.settings["cold"] = operands.note();

    const MatmulChecker checker(matmul, bench.seed);
    const auto stream = bench.device.create_stream();
    const auto check = [&](const char* name) {
        auto answer = checker.check(bench.device, operands.set(0));
        answer.name = name;
        result.checks.push_back(std::move(answer));
        return result.checks.back().passed;
    };
    prepared->enqueue(*stream, operands.set(0));
    stream->synchronize();
    if (!check("answer")) return;  // a wrong answer has no speed

    // Held by the subjects, which run it between samples.
    const std::function<void()> clear =
        matmul.cache == CacheState::cold ? clearing(bench, result) : nullptr;
    TunedChoice tuned;
    if (matmul.algorithm == Algorithm::tuned) {
        tuned =
            choose_algorithm(matmul, request, *prepared, operands, checker, clear, bench, result);
        if (tuned.winner) {
            prepared = std::move(tuned.winner);
            describe(prepared->implementation(), bench, result);
            checker.poison(bench.device, operands.set(0));
            prepared->enqueue(*stream, operands.set(0));
            stream->synchronize();
            if (!check("answer of the winner")) return;
        }
    }

    const auto subject = rotating_subject("matmul", bench.device, *prepared, operands, clear);
    // As the timed calls left it, and computed once more: what was right before may be wrong under
    // load or after it. Poisoned each time, so that no earlier answer stands in for it.
    checker.poison(bench.device, operands.set(0));
    sample_into(*subject, bench, operands.footprint_bytes(), operands.sets(), result);
    result.launches.back().samples.merge(tuned.samples);
    check("answer under load");
    checker.poison(bench.device, operands.set(0));
    prepared->enqueue(*stream, operands.set(0));
    stream->synchronize();
    check("answer after load");
}

}  // namespace

std::string GemmProbe::summary() const {
    return "matrix products: FLOP/s by shape and type";
}

std::vector<std::string> GemmProbe::examples() const {
    return {"assay gemm --shapes 1024x1024x1024 --dtype fp32,bf16",
            "assay gemm --shapes llama3-70b --tp 8 --tokens 512 --dtype bf16 --layout nt",
            "assay gemm --shapes 512x512x512 --sweep n=480..544+8",
            "assay gemm --shapes 1024x1024x1024 --as mamf-old,do_bench,best-of",
            "assay gemm --shapes 8192x8192x8192 --dtype bf16 --algorithm heuristic,tuned",
            "assay gemm --shapes article --dtype bf16 --parity",
            "assay gemm --shapes article --dtype fp8_e4m3fn --accumulation exact,fast"};
}

std::vector<OptionSpec> GemmProbe::options() const {
    return {
        {"shapes", "1024x1024x1024,2048x2048x2048", "SET|MxNxK,...|FILE",
         "article, square, llama3-8b, llama3-70b, gpt2-1.5b; single shapes; or a TOML file"},
        {"tokens", "2048", "N", "M of the model sets"},
        {"tp", "1", "N", "tensor parallel: split the true layers of a model set over N devices"},
        {"dtype", "fp32", "TYPE,...", "operand types: fp32, bf16, int8, ..."},
        {"dtype-b", "", "TYPE", "operand type of B; default A's"},
        {"accumulate", "", "TYPE", "accumulator; default fp32, int32 for int8"},
        {"accumulation", "exact", "exact,fast",
         "fp8: promote partial sums, or leave them in the matrix unit's narrower accumulator"},
        {"scales", "1,1", "A,B", "factors of the whole operands"},
        {"output-type", "", "TYPE", "type of C; default the operands', int32 for int8"},
        {"layout", "", "nn,nt,tn,tt",
         "t: that operand lies transposed in memory; default nn, nt for fp8"},
        {"epilogue", "none", "none,bias,gelu,bias+gelu", "what is fused behind the product"},
        {"batch", "1", "N,...", "independent products in one call"},
        {"inputs", "normal", "DIST,...", "normal, uniform, zeros, ones, ints"},
        {"cache", "cold", "cold|hot", "cold rotates operands over twice the last-level cache"},
        {"algorithm", "heuristic", "heuristic,tuned",
         "the library's own choice, or the fastest of all that it can run, which is kept"},
        {"algorithms", "32", "N",
         "tuned: so many at most are tried beyond the library's own list; the search takes longer "
         "by as much as N is above 32"},
        {"retune", "", "yes|no", "tuned: search again, whatever winner is known", "yes"},
        {"retune-time", "", "yes|no", "tuned: also time the search for M + 128", "yes"},
        {"sweep", "", "n=FIRST..LAST+STEP",
         "a dimension (m, n, k) over a range, interleaved: finds "
         "sizes that take longer than a larger one"},
        {"as", "", "METHOD,...",
         "also time it as mamf-old, do_bench, superbench, hipblaslt or best-of would, and print "
         "each one's error"},
        {"parity", "", "entries|layouts",
         "the same operands through every entry point, with and without bias, interleaved; or "
         "through every layout",
         "entries"},
    };
}

std::vector<record::Case> GemmProbe::expand(const Options& options,
                                            const record::DeviceFacts& /*facts*/) const {
    const auto shapes =
        work::parse_shapes(options.at("shapes"), parse_integer(options.at("tokens"), "--tokens"),
                           parse_integer(options.at("tp"), "--tp"));
    const auto types = work::parse_types(options.at("dtype"));
    const auto layouts = options.at("layout").empty()
                             ? std::vector<work::Layout>{}
                             : parse_list(options, "layout", work::parse_layout);
    const auto accumulations = parse_list(options, "accumulation", work::parse_accumulation);
    const auto [scale_a, scale_b] = parse_scales(options.at("scales"));
    const auto epilogues = parse_list(options, "epilogue", work::parse_epilogue);
    const auto inputs = parse_list(options, "inputs", work::parse_distribution);
    const auto batches = parse_integers(options, "batch");
    const auto cache = parse_cache_state(options.at("cache"));
    const auto algorithms = parse_list(options, "algorithm", parse_algorithm);
    const auto enumerated = parse_integer(options.at("algorithms"), "--algorithms");
    if (enumerated < 0) {
        throw UsageError(fmt::format("--algorithms {} is below 0", enumerated),
                         "0 tries the library's own list alone");
    }
    const bool retune = is_asked(options, "retune");
    const bool retune_time = is_asked(options, "retune-time");
    const bool tunes = std::ranges::find(algorithms, Algorithm::tuned) != algorithms.end();
    if ((retune || retune_time) && !tunes) {
        throw UsageError(retune ? "--retune without --algorithm tuned"
                                : "--retune-time without --algorithm tuned",
                         "add --algorithm tuned");
    }
    const auto usual = std::to_string(kEnumerated);
    if (std::to_string(enumerated) != usual && !tunes) {
        throw UsageError("--algorithms without --algorithm tuned", "add --algorithm tuned");
    }
    const auto& sweep = options.at("sweep");
    const auto& methods = options.at("as");
    const auto& parity = options.at("parity");
    const std::string tuned = tunes ? "tuned" : "";
    const std::array<std::pair<const char*, const std::string&>, 4> methods_of_their_own{
        {{"--sweep", sweep},
         {"--as", methods},
         {"--parity", parity},
         {"--algorithm tuned", tuned}}};
    const char* first = nullptr;
    for (const auto& [option, value] : methods_of_their_own) {
        if (value.empty()) continue;
        if (first != nullptr) {
            throw UsageError(fmt::format("{} and {} can't be combined", first, option),
                             "run them one after the other");
        }
        first = option;
    }
    if (!parity.empty()) {
        const bool of_layouts = parse_parity(parity) == Parity::layouts;
        if (of_layouts && !layouts.empty()) {
            throw UsageError("--layout and --parity layouts can't be combined",
                             "leave out --layout: all four are compared");
        }
        if (std::ranges::any_of(epilogues, work::has_bias)) {
            throw UsageError("--parity with a bias: it compares with and without one itself",
                             "give --epilogue none or gelu");
        }
    }
    const auto swept = sweep.empty() ? Sweep{} : parse_sweep(sweep);
    if (!methods.empty()) parse_methods(methods);

    std::vector<MatmulCase> matmuls(1);
    auto& fixed = matmuls.front();
    fixed.cache = cache;
    fixed.problem.scale_a = scale_a;
    fixed.problem.scale_b = scale_b;
    cross(matmuls, types, [&](MatmulCase& matmul, work::Type type) {
        auto& p = matmul.problem;
        p.operand = type;
        if (!options.at("dtype-b").empty()) p.operand_b = work::parse_type(options.at("dtype-b"));
        if (p.operand_b == type) p.operand_b.reset();
        p.accumulate = type_or(options, "accumulate", work::default_accumulate(type));
        p.output = type_or(options, "output-type", work::default_output(type));
        p.layout = work::default_layout(type);
    });
    cross(matmuls, accumulations, [](MatmulCase& matmul, work::Accumulation accumulation) {
        matmul.problem.accumulation = accumulation;
    });
    if (!layouts.empty()) {
        cross(matmuls, layouts,
              [](MatmulCase& matmul, work::Layout layout) { matmul.problem.layout = layout; });
    }
    cross(matmuls, epilogues,
          [](MatmulCase& matmul, work::Epilogue epilogue) { matmul.problem.epilogue = epilogue; });
    cross(matmuls, batches,
          [](MatmulCase& matmul, std::int64_t batch) { matmul.problem.batch = batch; });
    cross(matmuls, inputs,
          [](MatmulCase& matmul, work::Distribution drawn) { matmul.inputs = drawn; });
    cross(matmuls, shapes, [](MatmulCase& matmul, const work::Shape& shape) {
        matmul.problem.m = shape.m;
        matmul.problem.n = shape.n;
        matmul.problem.k = shape.k;
        matmul.layer = shape.layer;
    });
    cross(matmuls, algorithms,
          [](MatmulCase& matmul, Algorithm algorithm) { matmul.algorithm = algorithm; });

    std::vector<record::Case> cases;
    for (const auto& matmul : matmuls) {
        work::validate(matmul.problem);
        if (!sweep.empty()) work::validate(swept.at(matmul.problem, swept.sizes.back()));
        auto what = to_case(matmul);
        if (!sweep.empty()) what.set("sweep", sweep);
        if (!methods.empty()) what.set("as", methods);
        if (!parity.empty()) what.set("parity", parity);
        if (matmul.algorithm == Algorithm::tuned) {
            what.set("algorithms", std::to_string(enumerated), usual);
            set_flag(what, "retune", retune);
            set_flag(what, "retune_time", retune_time);
        }
        cases.push_back(std::move(what));
    }
    return cases;
}

bool GemmProbe::has_own_method(const record::Case& what) const {
    return what.has("sweep") || what.has("as") || what.has("parity");
}

void GemmProbe::run(const record::Case& what, Bench& bench, record::Result& result) const {
    const auto matmul = matmul_from_case(what);
    if (what.has("sweep")) {
        measure_sweep(matmul, parse_sweep(what.at("sweep")), bench, result);
    } else if (what.has("as")) {
        measure_methods(matmul, parse_methods(what.at("as")), bench, result);
    } else if (what.has("parity")) {
        measure_parity(matmul, parse_parity(what.at("parity")), bench, result);
    } else {
        measure_plain(matmul, request_of(what), bench, result);
    }
}

std::vector<record::Metric> GemmProbe::metrics(const record::Result& result) const {
    if (result.what.has("sweep")) return sweep_metrics(result);
    if (result.what.has("as")) return method_metrics(result);
    if (result.what.has("parity")) return parity_metrics(result);
    const auto matmul = matmul_from_case(result.what);
    const double flop = work::flop(matmul.problem);
    std::vector<record::Metric> metrics{
        measure::rate_metric("throughput", "TFLOP/s",
                             "2 M N K batch / median time of one call, 1e12 per second",
                             flop / 1e12, result.launches),
        measure::time_metric("time", "device time of one call", result.launches)};
    std::ranges::move(efficiency_metrics(result, flop), std::back_inserter(metrics));
    if (matmul.algorithm == Algorithm::tuned) {
        std::ranges::move(tuned_metrics(result.launches), std::back_inserter(metrics));
    }
    return metrics;
}

}  // namespace assay::probes
