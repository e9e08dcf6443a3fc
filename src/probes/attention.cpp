#include "probes/attention.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/range.h"
#include "base/units.h"
#include "measure/summary.h"
#include "probes/attention_cpu.h"
#include "probes/attention_dense.h"
#include "probes/attention_providers.h"
#include "probes/attention_setup.h"
#include "probes/attention_shapes.h"
#include "probes/attention_sweep.h"
#include "probes/cache_clearer.h"
#include "probes/efficiency.h"
#include "probes/list_file.h"
#include "probes/sampled.h"
#include "work/attention_tiles.h"

namespace assay::probes {

namespace {

std::vector<std::int64_t> parse_lengths_of(const Options& options, const char* option) {
    std::vector<std::int64_t> values;
    for (const auto size : parse_sizes(options.at(option))) {
        constexpr std::uint64_t kLargest = std::numeric_limits<std::int32_t>::max();
        if (size < 1 || size > kLargest) {
            throw UsageError(fmt::format("--{} {}: must be 1 to {}", option, size, kLargest),
                             "give a size in that range");
        }
        values.push_back(static_cast<std::int64_t>(size));
    }
    return values;
}

std::int64_t integer_or(const Options& options, const char* option, std::int64_t otherwise) {
    const auto& word = options.at(option);
    return word.empty() ? otherwise : parse_integer(word, "--" + std::string(option));
}

// A model's, or the one of the options for each --dim.
std::vector<AttentionShape> shapes_of(const Options& options) {
    const auto& model = options.at("model");
    const auto tp = parse_integer(options.at("tp"), "--tp");
    if (!model.empty()) {
        for (const auto* option : {"heads", "kv-heads", "dim", "value-dim"}) {
            if (options.is_given(option)) {
                throw UsageError(fmt::format("--model and --{} can't be combined", option),
                                 "leave one out: the model has heads and dims of its own");
            }
        }
        return attention_shapes(model, tp);
    }
    if (tp != 1) throw UsageError("--tp without --model", "add --model, or divide --heads");
    std::vector<AttentionShape> shapes;
    for (const auto dim : parse_integers(options, "dim")) {
        AttentionShape shape;
        shape.heads = parse_integer(options.at("heads"), "--heads");
        shape.kv_heads = integer_or(options, "kv-heads", shape.heads);
        shape.dim = dim;
        shape.value_dim = integer_or(options, "value-dim", dim);
        shapes.push_back(std::move(shape));
    }
    return shapes;
}

// Batch and lengths of a problem, by the options.
std::vector<work::Attention> lengths_of(const Options& options) {
    std::vector<work::Attention> problems;
    if (!options.at("lengths").empty()) {
        for (const auto* option : {"batch", "seq", "keys"}) {
            if (options.is_given(option)) {
                throw UsageError(fmt::format("--lengths and --{} can't be combined", option),
                                 "leave one out: lengths say how many and how long");
            }
        }
        set_lengths(problems.emplace_back(), parse_lengths(read_lengths(options.at("lengths"))));
        return problems;
    }
    for (const auto batch : parse_integers(options, "batch")) {
        for (const auto seq : parse_lengths_of(options, "seq")) {
            const auto keys = options.at("keys").empty() ? std::vector<std::int64_t>{seq}
                                                         : parse_lengths_of(options, "keys");
            for (const auto length : keys) {
                auto& p = problems.emplace_back();
                p.batch = batch;
                p.queries = seq;
                p.keys = length;
            }
        }
    }
    return problems;
}

// As given; of a model its own where none is.
std::vector<std::string> masks_of(const Options& options, const AttentionShape& shape) {
    if (!options.is_given("mask") && !options.at("model").empty()) {
        return {shape.window ? fmt::format("causal+window:{}", *shape.window) : "causal"};
    }
    auto masks = parse_mask_list(options.at("mask"));
    for (auto& mask : masks) mask = read_mask_lists(mask);
    return masks;
}

// Sizes whose strides 64 bits can count; what else may be wrong with them work::validate() says.
void require_countable(const work::Attention& p) {
    double elements = 4;
    for (const auto size :
         {p.batch, p.heads, std::max(p.queries, p.keys), std::max(p.dim, p.value_dim)}) {
        elements *= std::max(1.0, std::abs(static_cast<double>(size)));
    }
    if (elements > 0x1p62 || p.kv_heads > p.heads) {
        throw UsageError(
            fmt::format("attention of {} x {} heads ({} for keys) x {} tokens x {}", p.batch,
                        p.heads, p.kv_heads, std::max(p.queries, p.keys),
                        std::max(p.dim, p.value_dim)),
            "give fewer or smaller heads, or no more key/value heads than query heads");
    }
}

void measure_plain(const AttentionCase& attention, const record::Case& what, Bench& bench,
                   record::Result& result) {
    auto& op = bench.device.need<ops::Attention>();
    const auto names = providers_of(attention, op, bench.device);
    AttentionSetup setup(attention, bench);
    auto& settings = result.conditions.settings;
    if (!setup.operands().note().empty()) settings["cold"] = setup.operands().note();
    if (!setup.make_outputs(names, result)) return;
    auto open = open_providers(setup, names, bench, result);
    if (open.empty()) return;  // a wrong answer has no speed

    // Held by the subjects, which run it between samples.
    const std::function<void()> clear =
        attention.cache == CacheState::cold ? clearing(bench, result) : nullptr;
    const double start = bench.clock.now();
    const auto choice = choose_provider(setup, open, what.has("retune"), clear, bench, result);
    const auto& chosen = open[choice.index];
    settings.erase("note");  // another provider's
    describe(chosen.prepared->implementation(), bench, result);

    const auto subject = setup.subject("attention", *chosen.prepared, clear);
    // As the timed calls left it, and computed once more: what was right before may be wrong under
    // load or after it. Poisoned each time, so that no earlier answer stands in for it.
    setup.poison();
    auto sampling = bench;
    // What comparing providers took is part of the case's time.
    if (!choice.samples.empty()) {
        const double limit = bench.protocol.limit_s;
        sampling.protocol.limit_s =
            std::clamp(limit - (bench.clock.now() - start), limit / 2, limit);
    }
    sample_into(*subject, sampling, setup.operands().footprint_bytes(), setup.operands().sets(),
                result);
    result.launches.back().samples.insert(choice.samples.begin(), choice.samples.end());
    result.checks.push_back(setup.answer_as_it_is("answer under load"));
    result.checks.push_back(setup.answer(*chosen.prepared, "answer after load"));
    if (what.has("against_dense")) measure_against_dense(setup, chosen, clear, bench, result);
    if (what.has("against_cpu")) measure_against_cpu(setup, chosen, clear, bench, result);
}

// In words, for the definitions of rates.
std::string flop_formula(work::AttentionPass pass, const char* pairs) {
    return fmt::format(
        "2 heads x {} x ({}) / median time of one call, 1e12 per second", pairs,
        pass == work::AttentionPass::forward ? "dim + value_dim" : "3 dim + 2 value_dim");
}

record::Metric fact(std::string name, double value, std::string definition) {
    record::Metric metric;
    metric.name = std::move(name);
    metric.unit = "ratio";
    metric.definition = std::move(definition);
    metric.value = value;
    return metric;
}

// The counts behind the densities.
void describe_work(const AttentionCase& attention, record::Result& result) {
    const auto& p = attention.problem;
    auto& settings = result.conditions.settings;
    settings["FLOP"] = fmt::format("{:.0f}", work::flop(p, attention.pass));
    if (work::density(p) >= 1) return;
    const auto tiles = work::count_tiles(p);
    settings["tiles"] =
        fmt::format("{} full, {} partial, {} empty", tiles.full, tiles.partial, tiles.empty);
    settings["tile FLOP"] = fmt::format("{:.0f}", work::tile_flop(p, attention.pass));
}

// What a mask leaves of a case, where it leaves out anything.
void add_sparsity(const AttentionCase& attention, const record::Result& result,
                  std::vector<record::Metric>& metrics) {
    const auto& p = attention.problem;
    const double density = work::density(p);
    if (density >= 1) return;
    auto dense = measure::rate_metric("dense-equivalent throughput", "TFLOP/s",
                                      flop_formula(attention.pass, "all pairs of query and key"),
                                      work::dense_flop(p, attention.pass) / 1e12, result.launches);
    dense.better = record::Better::neither;
    metrics.push_back(std::move(dense));
    metrics.push_back(fact("density", density,
                           "pairs of query and key that the mask leaves, of all of an entry"));
    metrics.push_back(fact("tile density", tile_density(p),
                           "tiles of 128 queries x 128 keys with a visible pair, of all: the "
                           "density that a tiled kernel can reach"));
}

}  // namespace

std::string AttentionProbe::summary() const {
    return "attention, forward and backward: FLOP/s by shape, mask and type";
}

std::vector<std::string> AttentionProbe::examples() const {
    return {"assay attention --heads 12 --seq 1024 --dim 64 --mask full,causal",
            "assay attention --model llama3-8b --seq 8192 --dtype bf16 --pass forward,backward",
            "assay attention --model deepseek-v3 --tp 8 --seq 4096 --dtype bf16",
            "assay attention --batch 2 --heads 16 --seq 16384 --dim 128 --dtype bf16 --mask "
            "causal,causal+window:4096,causal+document:even:16 --against-dense",
            "assay attention --device cuda:0 --mask causal --pass forward,backward --against-cpu",
            "assay attention --seq 2048 --modifier none,softcap:50,alibi --mask causal",
            "assay attention --lengths 512/1024/77 --mask causal",
            "assay attention --dim 128 --provider all",
            "assay attention --heads 8 --seq 2048 --sweep dim=64..128+8"};
}

std::vector<OptionSpec> AttentionProbe::options() const {
    return {
        {"model", "", "NAME|FILE",
         "heads, dims and window of a model's attention: llama3-8b, mistral-7b, deepseek-v3, ..."},
        {"tp", "1", "N", "tensor parallel: a model's heads on one of N devices"},
        {"heads", "12", "N", "query heads"},
        {"kv-heads", "", "N", "key/value heads; default as many as query heads"},
        {"seq", "1024", "N,...", "queries of an entry"},
        {"keys", "", "N,...", "keys of an entry; default as many as queries"},
        {"lengths", "", "L1/L2/...|FILE", "ragged: entries of these lengths, back to back"},
        {"dim", "64", "N,...", "of a head: of queries and keys"},
        {"value-dim", "", "N", "of values and outputs; default dim"},
        {"batch", "1", "N,...", "entries"},
        {"dtype", "fp32", "TYPE,...", "fp64, fp32, fp16, bf16"},
        {"mask", "full", "MASK,...",
         "full; or joined by +: causal, causal:bottom-right, window:W (W keys, the query's own "
         "among them), prefix:P, document:even:N, document:skewed:N, document:L1/L2/...|FILE, "
         "blocks:SIZE:ROWS|FILE; default of a model causal and its window"},
        {"modifier", "none", "none,...", "of scores; joined by +: softcap:C, alibi, bias"},
        {"pass", "forward", "forward,backward", "backward alone: its forward pass isn't timed"},
        {"scale", "", "X", "of scores; default 1/sqrt(dim)"},
        {"layout", "bshd", "bshd,bhsd,packed",
         "by token, then head; by head, then token; or queries, keys and values of a token side "
         "by side"},
        {"inputs", "normal", "DIST,...", "normal, uniform, zeros, ones, ints"},
        {"cache", "cold", "cold|hot", "cold rotates operands over twice the last-level cache"},
        {"provider", "auto", "auto,all,NAME,...",
         "auto: the fastest that computes right, which is kept; all: each, interleaved"},
        {"retune", "", "yes|no", "auto: compare again, whatever is known to be the fastest", "yes"},
        {"against-dense", "", "yes|no", "also compare with a full mask, interleaved", "yes"},
        {"against-cpu", "", "yes|no",
         "on an accelerator: also compare with this host's CPU, interleaved", "yes"},
        {"sweep", "", "dim|seq=FIRST..LAST+STEP",
         "a size over a range, interleaved: finds sizes that take longer than padded to a larger "
         "one"},
    };
}

std::vector<record::Case> AttentionProbe::expand(const Options& options,
                                                 const record::DeviceFacts& facts) const {
    const auto types = work::parse_types(options.at("dtype"));
    const auto modifiers = parse_list(options, "modifier", work::parse_score_modifier);
    const auto passes = parse_list(options, "pass", work::parse_attention_pass);
    const auto layouts = parse_list(options, "layout", work::parse_attention_layout);
    const auto inputs = parse_list(options, "inputs", work::parse_distribution);
    const auto cache = parse_cache_state(options.at("cache"));
    const auto providers = parse_words(options.at("provider"), "--provider");
    const bool retune = is_asked(options, "retune");
    const bool against_dense = is_asked(options, "against-dense");
    const bool against_cpu = is_asked(options, "against-cpu");
    const auto& swept = options.at("sweep");
    const auto sweep = swept.empty() ? AttentionSweep{} : parse_attention_sweep(swept);
    const bool all = std::ranges::find(providers, kAllProviders) != providers.end();
    if (all && (!swept.empty() || against_dense)) {
        throw UsageError(fmt::format("--provider all and --{} can't be combined",
                                     swept.empty() ? "against-dense" : "sweep"),
                         "run them one after the other");
    }
    if (!swept.empty() && options.is_given(sweep.name())) {
        throw UsageError(fmt::format("--sweep {0} and --{0} can't be combined", sweep.name()),
                         "leave one out: the sweep says the sizes");
    }
    if (!swept.empty() && against_dense) {
        throw UsageError("--sweep and --against-dense can't be combined",
                         "run them one after the other");
    }
    if (against_cpu && (all || !swept.empty())) {
        throw UsageError(
            fmt::format("--{} and --against-cpu can't be combined", all ? "provider all" : "sweep"),
            "run them one after the other");
    }
    if (against_cpu && facts.kind == "cpu") {
        throw UsageError("--against-cpu on this host's CPU has nothing to compare",
                         "leave it out, or measure an accelerator: --device cuda:0");
    }
    if (retune && std::ranges::find(providers, kAutoProvider) == providers.end()) {
        throw UsageError("--retune without --provider auto", "leave out --retune");
    }
    std::optional<double> scale;
    if (!options.at("scale").empty()) scale = parse_number(options.at("scale"), "--scale");

    std::vector<AttentionCase> attentions;
    for (const auto& shape : shapes_of(options)) {
        for (const auto& lengths : lengths_of(options)) {
            for (const auto& mask : masks_of(options, shape)) {
                auto& attention = attentions.emplace_back();
                attention.layer = shape.layer;
                attention.cache = cache;
                auto& p = attention.problem;
                p = lengths;
                p.heads = shape.heads;
                p.kv_heads = shape.kv_heads;
                p.dim = shape.dim;
                p.value_dim = shape.value_dim;
                p.scale = scale;
                p.mask = work::parse_mask(mask, p.queries, p.keys);
                attention.mask_words = mask_words(mask, p.mask);
            }
        }
    }
    cross(attentions, types, [](AttentionCase& a, work::Type type) { a.problem.type = type; });
    cross(attentions, modifiers, [](AttentionCase& a, const work::ScoreModifier& modifier) {
        a.problem.modifier = modifier;
    });
    cross(attentions, layouts, [](AttentionCase& a, work::AttentionLayout layout) {
        a.layout = layout;
        require_countable(a.problem);
        work::lay_out(a.problem, layout);
    });
    cross(attentions, inputs, [](AttentionCase& a, work::Distribution drawn) { a.inputs = drawn; });
    cross(attentions, passes, [](AttentionCase& a, work::AttentionPass pass) { a.pass = pass; });
    cross(attentions, providers,
          [](AttentionCase& a, const std::string& provider) { a.provider = provider; });

    std::vector<record::Case> cases;
    for (auto& attention : attentions) {
        work::validate(attention.problem);
        if (!swept.empty()) {
            validate(sweep, attention);
            attention = sweep.base(attention, options.is_given("value-dim"));
        }
        auto what = to_case(attention);
        if (!swept.empty()) what.set("sweep", swept);
        if (attention.provider == kAutoProvider) set_flag(what, "retune", retune);
        set_flag(what, "against_dense", against_dense);
        set_flag(what, "against_cpu", against_cpu);
        cases.push_back(std::move(what));
    }
    return cases;
}

bool AttentionProbe::has_own_method(const record::Case& what) const {
    return what.has("sweep") || what.at("provider") == kAllProviders;
}

void AttentionProbe::run(const record::Case& what, Bench& bench, record::Result& result) const {
    const auto attention = attention_from_case(what);
    if (work::visible_pairs(attention.problem) == 0) {  // of no work there is no rate
        throw Unsupported("the mask leaves no pair to compute");
    }
    if (what.has("sweep")) {
        measure_sweep(attention, parse_attention_sweep(what.at("sweep")), bench, result);
    } else if (attention.provider == kAllProviders) {
        measure_providers(attention, bench, result);
    } else {
        measure_plain(attention, what, bench, result);
    }
    if (!what.has("sweep")) describe_work(attention, result);
}

std::vector<record::Metric> AttentionProbe::metrics(const record::Result& result) const {
    if (result.what.has("sweep")) return attention_sweep_metrics(result);
    if (result.what.at("provider") == kAllProviders) return provider_metrics(result);
    const auto attention = attention_from_case(result.what);
    const double flop = work::flop(attention.problem, attention.pass);
    std::vector<record::Metric> metrics{
        measure::rate_metric("throughput", "TFLOP/s",
                             flop_formula(attention.pass, "visible pairs of query and key"),
                             flop / 1e12, result.launches),
        measure::time_metric("time", "device time of one call", result.launches)};
    std::ranges::move(efficiency_metrics(result, flop), std::back_inserter(metrics));
    add_sparsity(attention, result, metrics);
    if (auto gain = dense_metric(result)) metrics.push_back(std::move(*gain));
    std::ranges::move(cpu_metrics(result), std::back_inserter(metrics));
    std::ranges::move(ratio_metrics(alternatives_of(result.launches, kProviderSamples)),
                      std::back_inserter(metrics));
    return metrics;
}

}  // namespace assay::probes
