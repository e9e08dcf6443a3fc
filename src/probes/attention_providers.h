// Which of a device's ways to attention is the fastest, and all of them side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/attention_setup.h"

namespace assay::probes {

// What the samples of an alternative are called in a launch: this and the provider's name.
inline constexpr std::string_view kProviderSamples = "provider ";

struct ProviderChoice {
    std::size_t index = 0;                           // of the open ones
    std::map<std::string, record::Samples> samples;  // of the launch: seconds by round
};

// The fastest of several right ones: compared round by round under the bench's protocol, at most
// 2 s or a third of the case's limit, or known from an earlier run by the same libraries on such
// a device for this problem and protocol, unless `anew`. The setting "provider" names it, "cache"
// says hit or miss.
ProviderChoice choose_provider(AttentionSetup& setup, const std::vector<OpenProvider>& open,
                               bool anew, const std::function<void()>& clear, Bench& bench,
                               record::Result& result);

// All providers that take the case, interleaved: fills one launch with the median seconds of each
// round of each. Those that refuse or compute wrong stand in the settings (attention_setup.h).
void measure_providers(const AttentionCase& attention, Bench& bench, record::Result& result);

// "throughput of NAME" and "time ratio of NAME" over the fastest.
std::vector<record::Metric> provider_metrics(const record::Result& result);

}  // namespace assay::probes
