// How fast a placement serves requests of one length: the time to the first token, the time of each
// further one, and what all devices give together. A prediction, each figure with the ends that the
// rates' ends give.
//
// A request is prefilled in chunks; stages of a pipeline work on different chunks. TTFT is the mean
// of a house that fills at once: a request waits for half of the others' prefills on its replica.
// Alone it waits for none. TPOT is one decode step of the whole batch (over p stages in p parts,
// which pass all stages), at the context half way through the output. Throughput of a full house: b
// requests of a replica take turns, each b prefills and output - 1 steps give b x output tokens:
// prefill and decode share the devices (serving.md's aggregated case). Speculation: a step checks
// `drafts` tokens beside the next one and gives `acceptance` of them all, and the draft model adds
// its share of a plain step's time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plan/step.h"

namespace assay::plan {

struct Speculation {
    int drafts = 1;            // tokens checked beside the next one
    double acceptance = 1;     // tokens that a step gives, 1 to drafts + 1
    double draft_share = 0.1;  // of the time of a step without it
};
// "drafts=7,acceptance=3.78" and perhaps "draft=0.1". Throws UsageError.
Speculation parse_speculation(std::string_view text);

struct Load {
    std::int64_t input = 1024, output = 400;  // tokens of a request
    std::int64_t batch = 1;                   // requests at a time, over all replicas
    std::optional<Speculation> speculation = {};
};

// Of one edge. Tokens per second are of all devices.
struct Served {
    double ttft_s = 0, ttft_alone_s = 0, tpot_s = 0;
    double prefill_per_s = 0;  // input tokens, of nothing but prefill
    double decode_per_s = 0;   // output tokens, of nothing but decode
    double output_per_s = 0;   // with the prefills that they need
    double total_per_s = 0;    // input and output
    StepTime prefill, decode;  // of one request, of one step
};
Served serve(const StepModel& model, const model::Layout& layout, const Load& load,
             const Speeds& speeds, const ComputeTypes& types);

// Three ends of one figure.
struct Range {
    double value = 0, low = 0, high = 0;

    Range scaled(double factor) const { return {value * factor, low * factor, high * factor}; }
    bool holds(double published) const { return low <= published && published <= high; }
};

struct Prediction {
    model::Layout layout;
    std::int64_t devices = 1;
    Load load;
    Range ttft_s, ttft_alone_s, tpot_s, prefill_per_s, decode_per_s, output_per_s, total_per_s;
    StepTime prefill, decode;

    Range per_user() const;    // output tokens/s of one request: 1 / TPOT
    Range per_device() const;  // output tokens/s
};
Prediction predict(const StepModel& model, const model::Layout& layout, const Load& load,
                   const Rates& rates);

}  // namespace assay::plan
