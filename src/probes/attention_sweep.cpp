#include "probes/attention_sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/range.h"
#include "base/text.h"
#include "base/time.h"
#include "measure/interleave.h"
#include "probes/attention_setup.h"
#include "probes/sampled.h"
#include "stats/quantile.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

// Fewer rounds have no 95 % interval between two of their values (stats/interval.h).
constexpr std::size_t kFewestRounds = 6;
constexpr std::size_t kRounds = 60, kRoundsWanted = 12;
constexpr double kEffort = 0.1;  // of a check: there are many
constexpr const char* kBeside = " beside";
constexpr const char* kPaddedTo = " padded to ";

// One problem of the comparison, ready to run.
struct Candidate {
    std::int64_t size = 0, pad_to = 0;  // pad_to 0: as it is
    std::unique_ptr<AttentionSetup> setup;
    std::unique_ptr<ops::PreparedAttention> prepared;
};

class Comparison {
  public:
    Comparison(const AttentionCase& attention, const AttentionSweep& sweep, Bench& bench,
               record::Result& result)
        : attention_(attention), sweep_(sweep), bench_(bench), result_(result) {}

    std::string label(std::int64_t size) const { return fmt::format("{}={}", sweep_.name(), size); }

    // Nothing where the device refuses it; a failed check where its answer is wrong.
    std::optional<Candidate> open(std::int64_t size, std::int64_t pad_to) {
        const auto one = sweep_.at(attention_, size);
        const auto name = label(size) + (pad_to > 0 ? kPaddedTo + std::to_string(pad_to) : "");
        Candidate candidate{size, pad_to, nullptr, nullptr};
        try {
            if (pad_to == 0) {
                candidate.setup = std::make_unique<AttentionSetup>(one, bench_, nullptr, kEffort);
                candidate.prepared = prepare(one);
            } else {
                const auto padded = pad(sweep_, one, pad_to);
                candidate.setup =
                    std::make_unique<AttentionSetup>(padded.outer, bench_, &padded.inner, kEffort);
                candidate.prepared = prepare(padded.outer);
            }
            if (!candidate.setup->make_outputs({provider()}, result_)) {
                wrong_ = true;
                return std::nullopt;
            }
        } catch (const Unsupported& error) {
            left_out_.push_back(name + ": " + error.what());
            return std::nullopt;
        }
        describe(candidate.prepared->implementation(), bench_, result_);
        auto check = candidate.setup->answer(*candidate.prepared, "answer " + name);
        wrong_ = wrong_ || !check.passed;
        result_.checks.push_back(std::move(check));
        return candidate;
    }

    bool wrong() const { return wrong_; }
    const std::vector<std::string>& left_out() const { return left_out_; }

    // Seconds by round of each, in their order.
    std::vector<std::vector<double>> run(const std::vector<const Candidate*>& candidates) {
        std::vector<std::unique_ptr<measure::StreamSubject>> owned;
        std::vector<measure::Subject*> subjects;
        for (const auto* one : candidates) {
            owned.push_back(one->setup->subject(label(one->size), *one->prepared));
            subjects.push_back(owned.back().get());
        }
        measure::InterleaveOptions options;
        options.limit_s = bench_.protocol.limit_s / 2;
        // Verdicts there are against the first size; cliffs are between any two.
        options.min_rounds = kRounds;
        const auto rounds = static_cast<double>(kRoundsWanted * subjects.size());
        options.round_s = std::min(options.round_s, options.limit_s / rounds);
        auto measured = measure::interleave(subjects, bench_.clock, options);
        if (measured.front().seconds.empty()) throw_if_interrupted();
        std::vector<std::vector<double>> seconds;
        for (auto& one : measured) seconds.push_back(std::move(one.seconds));
        return seconds;
    }

  private:
    std::string provider() const {
        return attention_.provider == kAutoProvider ? "" : attention_.provider;
    }
    std::unique_ptr<ops::PreparedAttention> prepare(const AttentionCase& one) {
        return bench_.device.need<ops::Attention>().prepare(one.problem, one.pass, provider());
    }

    AttentionCase attention_;
    AttentionSweep sweep_;
    Bench& bench_;
    record::Result& result_;
    bool wrong_ = false;
    std::vector<std::string> left_out_;
};

bool surely_longer(const std::vector<double>& shorter, const std::vector<double>& longer) {
    if (shorter.size() < kFewestRounds || shorter.size() != longer.size()) return false;
    return stats::ratio_of_rounds(shorter, longer).interval.lo > 1 + stats::kDefaultMargin;
}

// Of candidates in ascending order: for each, the larger one that takes the least, if it surely
// takes less.
std::map<std::size_t, std::size_t> faster_larger(const std::vector<std::vector<double>>& seconds) {
    std::map<std::size_t, std::size_t> pairs;
    if (seconds.empty()) return pairs;
    std::size_t best = seconds.size() - 1;
    for (std::size_t at = best; at-- > 0;) {
        if (stats::median(seconds[at]) <= stats::median(seconds[best])) {
            best = at;
        } else if (surely_longer(seconds[best], seconds[at])) {
            pairs[at] = best;
        }
    }
    return pairs;
}

struct PaddingGain {
    std::int64_t size = 0, pad_to = 0;
    stats::Ratio ratio;  // as it is, over padded
};

// From the samples of all launches together.
std::vector<PaddingGain> gains_of(const std::vector<record::Launch>& launches) {
    struct Pair {
        std::vector<double> beside, padded;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Pair> pairs;
    const std::string_view middle = kPaddedTo;
    for (const auto& launch : launches) {
        for (const auto& [name, samples] : launch.samples) {
            const auto cut = name.find(middle);
            if (cut == std::string::npos) continue;
            const auto beside = launch.samples.find(name.substr(0, cut) + kBeside);
            if (beside == launch.samples.end()) continue;
            const auto equals = name.find('=') + 1;
            auto& pair = pairs[{std::stoll(name.substr(equals, cut - equals)),
                                std::stoll(name.substr(cut + middle.size()))}];
            const auto& as_it_is = beside->second.values;
            pair.beside.insert(pair.beside.end(), as_it_is.begin(), as_it_is.end());
            pair.padded.insert(pair.padded.end(), samples.values.begin(), samples.values.end());
        }
    }
    std::vector<PaddingGain> gains;
    for (const auto& [sizes, pair] : pairs) {
        if (!surely_longer(pair.padded, pair.beside)) continue;
        gains.push_back(
            {sizes.first, sizes.second, stats::ratio_of_rounds(pair.padded, pair.beside)});
    }
    return gains;
}

}  // namespace

AttentionCase AttentionSweep::at(const AttentionCase& attention, std::int64_t value) const {
    auto one = attention;
    auto& p = one.problem;
    if (size == Size::dim) {
        if (p.value_dim == p.dim) p.value_dim = value;
        p.dim = value;
    } else {
        p.queries = p.keys = value;
        const auto words = one.mask_words.empty() ? work::name(p.mask) : one.mask_words;
        p.mask = work::parse_mask(words, value, value);
    }
    work::lay_out(p, one.layout);
    return one;
}

AttentionSweep parse_attention_sweep(std::string_view text) {
    const std::string hint = "write dim or seq and a range: --sweep dim=64..256+8";
    AttentionSweep sweep;
    if (text.starts_with("seq=")) {
        sweep.size = AttentionSweep::Size::seq;
    } else if (!text.starts_with("dim=")) {
        throw UsageError(fmt::format("sweep \"{}\" names neither dim nor seq", text), hint);
    }
    for (const auto value : parse_sizes(text.substr(4))) {
        constexpr std::uint64_t kLargest = std::numeric_limits<std::int32_t>::max();
        if (value < 1 || value > kLargest) {
            throw UsageError(
                fmt::format("{} of sweep \"{}\" is outside 1 to {}", value, text, kLargest), hint);
        }
        sweep.sizes.push_back(static_cast<std::int64_t>(value));
    }
    if (sweep.sizes.size() < 2) {
        throw UsageError(fmt::format("sweep \"{}\" has one size", text), hint);
    }
    if (!std::ranges::is_sorted(sweep.sizes, std::ranges::less_equal{})) {
        throw UsageError(fmt::format("sweep \"{}\" has sizes that don't rise", text), hint);
    }
    return sweep;
}

void validate(const AttentionSweep& sweep, const AttentionCase& attention) {
    const auto& p = attention.problem;
    if (sweep.size == AttentionSweep::Size::seq) {
        if (p.ragged() || p.queries != p.keys) {
            throw UsageError("--sweep seq with lengths of its own, or other --keys than queries",
                             "leave out --lengths and --keys");
        }
        if (p.modifier.bias || !p.mask.blocks.empty()) {
            throw UsageError("--sweep seq with a bias or a mask of blocks",
                             "both are made for one length: sweep dim, or leave them out");
        }
    }
    for (const auto size : sweep.sizes) work::validate(sweep.at(attention, size).problem);
}

PaddedAttention pad(const AttentionSweep& sweep, const AttentionCase& attention, std::int64_t to) {
    PaddedAttention padded{attention, attention.problem};
    auto& outer = padded.outer.problem;
    if (sweep.size == AttentionSweep::Size::dim) {
        outer.scale = work::scale_of(attention.problem);
        if (outer.value_dim == outer.dim) outer.value_dim = to;
        outer.dim = to;
        work::lay_out(outer, attention.layout);
    } else {
        const auto seq = outer.queries;
        outer.queries = outer.keys = to;
        auto& mask = outer.mask;
        mask.prefix = std::min(mask.prefix, seq);
        if (!mask.documents.empty()) mask.documents.push_back(to - seq);
        padded.outer.mask_words.clear();
        work::lay_out(outer, attention.layout);
        if (!mask.causal && mask.documents.empty()) {
            outer.query_lengths.assign(static_cast<std::size_t>(outer.batch), seq);
            outer.key_lengths = outer.query_lengths;
        }
    }
    padded.inner.strides = outer.strides;
    return padded;
}

void measure_sweep(const AttentionCase& attention, const AttentionSweep& sweep, Bench& bench,
                   record::Result& result) {
    Comparison comparison(attention, sweep, bench, result);
    std::vector<Candidate> sizes;
    for (const auto size : sweep.sizes) {
        auto one = comparison.open(size, 0);
        if (comparison.wrong()) return;
        if (one) sizes.push_back(std::move(*one));
    }
    auto& settings = result.conditions.settings;
    if (!comparison.left_out().empty()) {
        settings["left out"] = join(comparison.left_out(), "; ");
    }
    if (sizes.empty()) throw Unsupported("no size of the sweep can run: " + settings["left out"]);

    record::Launch launch;
    launch.pid = ::getpid();
    launch.started = utc_now();
    std::vector<const Candidate*> all;
    for (const auto& one : sizes) all.push_back(&one);
    const auto seconds = comparison.run(all);
    const std::string unit(sweep.name());
    record::Series time{"time", unit, "s", {}, {}};
    record::Series gain{"padding gain", unit, "ratio", {}, {}};
    record::Series pad_to{"pad to", unit, "size", {}, {}};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        launch.samples[comparison.label(sizes[i].size)] = {"s", seconds[i]};
        time.x.push_back(static_cast<double>(sizes[i].size));
        time.y.push_back(stats::median(seconds[i]));
    }

    std::vector<Candidate> padded;
    std::vector<const Candidate*> pairs;
    const auto wanted = faster_larger(seconds);
    padded.reserve(wanted.size());
    for (const auto& [at, best] : wanted) {
        auto one = comparison.open(sizes[at].size, sizes[best].size);
        if (comparison.wrong()) return;
        if (!one) continue;
        padded.push_back(std::move(*one));
        pairs.push_back(&sizes[at]);
        pairs.push_back(&padded.back());
    }
    if (!comparison.left_out().empty()) {
        settings["left out"] = join(comparison.left_out(), "; ");
    }
    if (!pairs.empty()) {
        auto measured = comparison.run(pairs);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto& one = *pairs[i];
            const auto name = comparison.label(one.size) +
                              (one.pad_to > 0 ? kPaddedTo + std::to_string(one.pad_to) : kBeside);
            launch.samples[name] = {"s", std::move(measured[i])};
        }
    }
    result.launches.push_back(std::move(launch));
    for (const auto& one : gains_of({result.launches.back()})) {
        gain.x.push_back(static_cast<double>(one.size));
        gain.y.push_back(one.ratio.value);
        pad_to.x.push_back(static_cast<double>(one.size));
        pad_to.y.push_back(static_cast<double>(one.pad_to));
    }
    settings.erase("note");
    describe(sizes.back().prepared->implementation(), bench, result);
    result.conditions.protocol = "interleaved";
    result.conditions.footprint_bytes = sizes.back().setup->operands().footprint_bytes();
    result.conditions.operand_sets = sizes.back().setup->operands().sets();
    result.series = {std::move(time), std::move(gain), std::move(pad_to)};
}

std::vector<record::Metric> attention_sweep_metrics(const record::Result& result) {
    if (result.launches.empty()) return {};
    record::Metric cliffs;
    cliffs.name = "cliffs";
    cliffs.unit = "sizes";
    cliffs.better = record::Better::lower;
    cliffs.definition =
        "sizes that take longer than the same work padded with zeros to a larger size of the "
        "sweep: the 95 % interval of the ratio by round lies wholly above 1.015";
    std::size_t rounds = 0;
    for (const auto& launch : result.launches) {
        for (const auto& [name, samples] : launch.samples) {
            cliffs.n += samples.values.size();
            rounds = std::max(rounds, samples.values.size());
        }
    }
    const auto gains = gains_of(result.launches);
    cliffs.value = static_cast<double>(gains.size());
    auto worst = cliffs;
    worst.name = "largest padding gain";
    worst.unit = "ratio";
    worst.definition =
        "time at the worst cliff over the time of the same work padded with zeros, the padding "
        "itself not counted; 1 without a cliff";
    worst.value = 1;
    for (const auto& one : gains) worst.value = std::max(worst.value, one.ratio.value);
    if (rounds < kFewestRounds) {  // nothing can be told
        cliffs.value = worst.value = std::numeric_limits<double>::quiet_NaN();
    }
    return {cliffs, worst};
}

}  // namespace assay::probes
