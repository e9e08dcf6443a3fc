#include "plan/work_price.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::plan {

namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kSecondsPerDay = 86'400;
constexpr double kMillion = 1e6;

struct Definition {
    Counts counts;
    std::string_view name, tokens;
    std::optional<double> TokenRates::*rate;
};
constexpr std::array kDefinitions{
    Definition{Counts::total, "total", "input + output tokens", &TokenRates::total},
    Definition{Counts::output, "output", "output tokens", &TokenRates::output},
    Definition{Counts::input, "input", "input tokens", &TokenRates::input},
};

}  // namespace

Counts parse_counts(std::string_view word) {
    std::vector<std::string> known;
    for (const auto& definition : kDefinitions) {
        if (definition.name == word) return definition.counts;
        known.emplace_back(definition.name);
    }
    throw_unknown("kind of tokens", word, known);
}

std::string_view name(Counts counts) {
    return kDefinitions.at(static_cast<std::size_t>(counts)).name;
}

TokenRates token_rates(double per_s, Counts counts, std::optional<double> input_share) {
    TokenRates rates;
    const auto& definition = kDefinitions.at(static_cast<std::size_t>(counts));
    rates.*definition.rate = per_s;
    if (!input_share) return rates;
    const double counted = counts == Counts::total    ? 1
                           : counts == Counts::output ? 1 - *input_share
                                                      : *input_share;
    if (!(counted > 0)) {
        throw UsageError(
            fmt::format("an input share of {} leaves no {} tokens", exact_number(*input_share),
                        definition.name),
            "the tokens that are counted must be there: look at --counts and --input-share");
    }
    rates.total = per_s / counted;
    if (*input_share < 1) rates.output = *rates.total * (1 - *input_share);
    if (*input_share > 0) rates.input = *rates.total * *input_share;
    rates.*definition.rate = per_s;
    return rates;
}

TokenRates token_rates(const Requests& requests) {
    const double seconds = requests.ttft_s + (requests.output - 1) * requests.tpot_s;
    TokenRates rates;
    rates.total = requests.concurrency * (requests.input + requests.output) / seconds;
    rates.output = requests.concurrency * requests.output / seconds;
    if (requests.input > 0) rates.input = requests.concurrency * requests.input / seconds;
    return rates;
}

std::vector<CostFigure> token_figures(const TokenRates& rates, std::int64_t devices,
                                      const std::vector<HourPrice>& hours) {
    std::vector<CostFigure> figures;
    const auto count = static_cast<double>(devices);
    for (const auto& definition : kDefinitions) {
        const auto rate = rates.*definition.rate;
        if (!rate) continue;
        figures.push_back({"tokens", fmt::format("{} tokens/s per device", definition.name),
                           *rate / count, "tokens/s",
                           fmt::format("{} per second of the instance / its {} devices",
                                       definition.tokens, devices)});
        for (const auto& [basis, per_hour] : hours) {
            figures.push_back(
                {"tokens", fmt::format("$/million {} tokens, {}", definition.name, basis),
                 per_hour * count / (*rate * kSecondsPerHour / kMillion), "$/Mtoken",
                 fmt::format("{} device-hours of the instance / {}; charges the whole hour: not to "
                             "be added to the other definitions",
                             basis, definition.tokens)});
            figures.push_back(
                {"tokens", fmt::format("{} tokens/s per $/h, {}", definition.name, basis),
                 *rate / (count * per_hour), "tokens/s per $/h",
                 fmt::format("{} per second / $ of an hour of the instance's devices, {}",
                             definition.tokens, basis)});
        }
    }
    return figures;
}

std::vector<CostFigure> energy_figures(const TokenRates& rates, std::int64_t devices,
                                       double watts_per_device, std::string_view which_watts) {
    std::vector<CostFigure> figures;
    for (const auto& definition : kDefinitions) {
        const auto rate = rates.*definition.rate;
        if (!rate) continue;
        figures.push_back({"energy", fmt::format("J/{} token", definition.name),
                           watts_per_device * static_cast<double>(devices) / *rate, "J/token",
                           fmt::format("{} / {} per second", which_watts, definition.tokens)});
    }
    return figures;
}

std::vector<CostFigure> training_figures(const TrainingRun& run,
                                         const std::vector<HourPrice>& hours) {
    const double seconds = run.tokens / run.tokens_per_s;
    const double device_hours = seconds / kSecondsPerHour * static_cast<double>(run.devices);
    std::vector<CostFigure> figures{
        {"training", "device-hours", device_hours, "h",
         "tokens / (tokens/s) x devices, without failures"},
        {"training", "duration", seconds / kSecondsPerDay / (1 - run.loss), "days",
         "tokens / (tokens/s) / (1 - share of time lost to failures)"}};
    for (const auto& [basis, per_hour] : hours) {
        figures.push_back({"training", "$/training run, " + basis, device_hours * per_hour, "$",
                           basis + " device-hours at their price"});
        figures.push_back({"training", "$/million tokens trained, " + basis,
                           device_hours * per_hour / (run.tokens / kMillion), "$/Mtoken",
                           "$/training run / tokens trained on"});
    }
    return figures;
}

std::vector<CostFigure> comparison_figures(const Contender& one, const Contender& other) {
    const auto over = fmt::format("{} over {}", one.name, other.name);
    std::vector<CostFigure> figures{
        {"comparison", "$/device-hour, " + over, one.hour.per_hour / other.hour.per_hour, "ratio",
         fmt::format("{} device-hour of {} / {} device-hour of {}", one.hour.basis, one.name,
                     other.hour.basis, other.name)},
        {"comparison", fmt::format("tokens/s per device that {} needs", one.name),
         one.hour.per_hour / other.hour.per_hour, "ratio",
         fmt::format("of {}'s, for a token to cost the same", other.name)}};
    const auto add = [&](std::string_view name, std::string_view tokens,
                         const std::optional<double>& mine, const std::optional<double>& theirs) {
        if (!mine || !theirs) return;
        const auto per_cost = [](const Contender& c, double rate) {
            return rate / (static_cast<double>(c.devices) * c.hour.per_hour);
        };
        figures.push_back({"comparison",
                           fmt::format("performance per TCO, {} tokens, {}", name, over),
                           per_cost(one, *mine) / per_cost(other, *theirs), "ratio",
                           fmt::format("{} per second per $/h of {} / the same of {}", tokens,
                                       one.name, other.name)});
    };
    for (const auto& definition : kDefinitions) {
        add(definition.name, definition.tokens, one.rates.*definition.rate,
            other.rates.*definition.rate);
    }
    add("training", "tokens trained on", one.training_tokens_per_s, other.training_tokens_per_s);
    return figures;
}

}  // namespace assay::plan
