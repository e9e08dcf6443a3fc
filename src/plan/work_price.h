// What a token and a training run cost, from what a device-hour costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

// One number of an answer, with what exactly it is.
struct CostFigure {
    std::string section;  // "cost", "power", "failures", "tokens", "energy", "training", ...
    std::string name;
    double value = 0;
    std::string unit;
    std::string definition;
};

// Tokens per second of an instance: the devices that serve together. Input and output are counted
// apart, total is both; what isn't known isn't there.
struct TokenRates {
    std::optional<double> total, output, input;
};

enum class Counts { total, output, input };
Counts parse_counts(std::string_view word);  // throws UsageError
std::string_view name(Counts counts);

// From one counted rate; `input_share`, of all tokens, gives the others. Throws UsageError where
// the share leaves none of the tokens that were counted.
TokenRates token_rates(double per_s, Counts counts, std::optional<double> input_share);

// Of requests served `concurrency` at a time: each takes ttft + (output - 1) tpot seconds.
struct Requests {
    double concurrency = 1, input = 0, output = 0, ttft_s = 0, tpot_s = 0;
};
TokenRates token_rates(const Requests& requests);

// What an hour of a device costs, by whom and of which hours: "owned", "useful", "rented".
struct HourPrice {
    std::string basis;
    double per_hour = 0;
};

// $/million tokens = $/device-hour x devices/(tokens/s x 3600/10^6), for each definition and each
// basis (InferenceX); tokens/s per $/h = tokens/s/(devices x $/device-hour). Each definition
// charges the whole device-hour: they are never to be added.
std::vector<CostFigure> token_figures(const TokenRates& rates, std::int64_t devices,
                                      const std::vector<HourPrice>& hours);
// J/token = average watts of the devices over tokens/s, each definition again charging all of them.
std::vector<CostFigure> energy_figures(const TokenRates& rates, std::int64_t devices,
                                       double watts_per_device, std::string_view which_watts);

struct TrainingRun {
    double tokens = 0;
    double tokens_per_s = 0;  // of the devices, while they train
    std::int64_t devices = 0;
    double loss = 0;  // share of time lost to failures, for the days that it takes
};
std::vector<CostFigure> training_figures(const TrainingRun& run,
                                         const std::vector<HourPrice>& hours);

// Performance per TCO: tokens/s per $/h of one over the other, for each definition that both have
// and for training, and the tokens/s per device at which they would cost the same.
struct Contender {
    std::string name;
    TokenRates rates;
    std::optional<double> training_tokens_per_s;
    std::int64_t devices = 0;  // of the instance
    HourPrice hour;
};
std::vector<CostFigure> comparison_figures(const Contender& one, const Contender& other);

}  // namespace assay::plan
