#include "probes/attention_sweep.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/time.h"
#include "measure/interleave.h"
#include "probes/attention_setup.h"
#include "probes/sampled.h"
#include "probes/size_sweep.h"
#include "stats/quantile.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

constexpr std::size_t kRounds = 60, kRoundsWanted = 12;
constexpr double kEffort = 0.1;  // of a check: there are many
constexpr const char* kBeside = " beside";
constexpr const char* kPaddedTo = " padded to ";

// One problem of the comparison, ready to run.
struct Candidate {
    std::int64_t size = 0, pad_to = 0;  // pad_to 0: as it is
    AttentionCase attention;            // what the device computes
    std::unique_ptr<ops::PreparedAttention> prepared;
    std::unique_ptr<AttentionSetup> setup;
};

class Comparison {
  public:
    Comparison(const AttentionCase& attention, const AttentionSweep& sweep, Bench& bench,
               record::Result& result)
        : attention_(attention), sweep_(sweep), bench_(bench), result_(result) {}

    std::string label(std::int64_t size) const { return fmt::format("{}={}", sweep_.name(), size); }

    // The sizes as they are, in memory that they share. Those that the device refuses are left out;
    // where an answer is wrong, the last one's check has failed.
    std::vector<Candidate> open_sizes() {
        std::vector<Candidate> prepared;
        for (const auto size : sweep_.sizes) {
            Candidate candidate{size, 0, sweep_.at(attention_, size), nullptr, nullptr};
            if (prepare(candidate)) prepared.push_back(std::move(candidate));
        }
        std::vector<AttentionCase> cases;
        for (const auto& one : prepared) cases.push_back(one.attention);
        const SharedAttention shared(bench_.device, cases, bench_.seed);
        std::vector<Candidate> open;
        for (auto& one : prepared) {
            const bool right = answers(one, [&] {
                return std::make_unique<AttentionSetup>(one.attention, bench_, shared, kEffort);
            });
            if (wrong_) return open;
            if (right) open.push_back(std::move(one));
        }
        return open;
    }

    // Nothing where the device refuses it; a failed check where its answer is wrong.
    std::optional<Candidate> open_padded(std::int64_t size, std::int64_t pad_to) {
        const auto padded = pad(sweep_, attention_, size, pad_to);
        Candidate candidate{size, pad_to, padded.outer, nullptr, nullptr};
        if (!prepare(candidate)) return std::nullopt;
        const bool right = answers(candidate, [&] {
            return std::make_unique<AttentionSetup>(padded.outer, bench_, &padded.inner, kEffort);
        });
        if (!right) return std::nullopt;
        return candidate;
    }

    bool wrong() const { return wrong_; }
    const std::vector<std::string>& left_out() const { return left_out_; }

    // Seconds by round of each, in their order. `share` of the time that a comparison has.
    std::vector<std::vector<double>> run(const std::vector<const Candidate*>& candidates,
                                         double share) {
        std::vector<std::unique_ptr<measure::StreamSubject>> owned;
        std::vector<measure::Subject*> subjects;
        for (const auto* one : candidates) {
            owned.push_back(one->setup->subject(label(one->size), *one->prepared));
            subjects.push_back(owned.back().get());
        }
        measure::InterleaveOptions options;
        options.limit_s = share * bench_.protocol.limit_s / 2;
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
    std::string name_of(const Candidate& one) const {
        return label(one.size) + (one.pad_to > 0 ? kPaddedTo + std::to_string(one.pad_to) : "");
    }
    bool prepare(Candidate& one) {
        try {
            one.prepared = bench_.device.need<ops::Attention>().prepare(
                one.attention.problem, one.attention.pass, provider());
            return true;
        } catch (const Unsupported& error) {
            left_out_.push_back(name_of(one) + ": " + error.what());
            return false;
        }
    }
    // Whether it can run and its answer is right.
    template <class MakeSetup>
    bool answers(Candidate& one, const MakeSetup& make_setup) {
        try {
            one.setup = make_setup();
            wrong_ = !one.setup->make_outputs({provider()}, result_);
            if (wrong_) return false;
        } catch (const Unsupported& error) {
            left_out_.push_back(name_of(one) + ": " + error.what());
            return false;
        }
        describe(one.prepared->implementation(), bench_, result_);
        auto check = one.setup->answer(*one.prepared, "answer " + name_of(one));
        wrong_ = !check.passed;
        result_.checks.push_back(std::move(check));
        return !wrong_;
    }

    AttentionCase attention_;
    AttentionSweep sweep_;
    Bench& bench_;
    record::Result& result_;
    bool wrong_ = false;
    std::vector<std::string> left_out_;
};

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

AttentionCase AttentionSweep::base(const AttentionCase& attention, bool own_value_dim) const {
    if (size == Size::seq) return at(attention, sizes.front());
    auto one = attention;
    auto& p = one.problem;
    const bool follows = !own_value_dim && p.value_dim == p.dim;
    p.dim = !follows && p.value_dim == sizes.front() ? sizes.back() : sizes.front();
    if (follows) p.value_dim = p.dim;
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
    sweep.sizes = parse_swept_sizes(text.substr(4), text, hint);
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

PaddedAttention pad(const AttentionSweep& sweep, const AttentionCase& attention, std::int64_t size,
                    std::int64_t to) {
    const auto inner = sweep.at(attention, size);
    PaddedAttention padded{inner, inner.problem};
    auto& outer = padded.outer.problem;
    if (sweep.size == AttentionSweep::Size::dim) {
        outer.scale = work::scale_of(inner.problem);
        // Equal by chance where the case's own dims differ.
        if (attention.problem.value_dim == attention.problem.dim) outer.value_dim = to;
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
    const auto sizes = comparison.open_sizes();
    if (comparison.wrong()) return;
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
    const auto seconds = comparison.run(all, 1);
    const std::string unit(sweep.name());
    record::Series time{"time", unit, "s", {}, {}};
    record::Series gain{"padding gain", unit, "ratio", {}, {}};
    record::Series pad_to{"pad to", unit, "size", {}, {}};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        launch.samples[comparison.label(sizes[i].size)] = {"s", seconds[i]};
        time.x.push_back(static_cast<double>(sizes[i].size));
        time.y.push_back(stats::median(seconds[i]));
    }

    // Each by itself, as rounds of the two are compared: one padded problem lies in memory at a
    // time.
    const auto cliffs = find_cliffs(seconds);
    for (const auto& cliff : cliffs) {
        const auto padded = comparison.open_padded(sizes[cliff.at].size, sizes[cliff.pad_to].size);
        if (comparison.wrong()) return;
        if (!padded) continue;
        auto measured =
            comparison.run({&sizes[cliff.at], &*padded}, 1 / static_cast<double>(cliffs.size()));
        const auto name = comparison.label(padded->size);
        launch.samples[name + kBeside] = {"s", std::move(measured[0])};
        launch.samples[name + kPaddedTo + std::to_string(padded->pad_to)] = {
            "s", std::move(measured[1])};
    }
    if (!comparison.left_out().empty()) {
        settings["left out"] = join(comparison.left_out(), "; ");
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
    std::size_t rounds = 0, count = 0;
    for (const auto& launch : result.launches) {
        for (const auto& [name, samples] : launch.samples) {
            count += samples.values.size();
            rounds = std::max(rounds, samples.values.size());
        }
    }
    std::vector<stats::Ratio> cliffs;
    for (const auto& gain : gains_of(result.launches)) cliffs.push_back(gain.ratio);
    return cliff_metrics(
        cliffs, rounds, count,
        "sizes that take longer than the same work padded with zeros to a larger size of the "
        "sweep: the 95 % interval of the ratio by round lies wholly above 1.015",
        "time at the worst cliff over the time of the same work padded with zeros, the padding "
        "itself not counted; 1 without a cliff");
}

}  // namespace assay::probes
