#include "peer_subject.h"

#include <algorithm>

#include "base/error.h"

namespace assay::bench {

PeerSubject::PeerSubject(std::string name, crew::Command command, const Json& problem)
    : name_(std::move(name)), child_(name_, std::move(command)) {
    prepare(problem);
}

void PeerSubject::prepare(const Json& problem) {
    Json request = problem;
    request["do"] = "prepare";
    about_ = child_.request(request).at("about").get<std::string>();
}

void PeerSubject::run(std::span<double> seconds, int calls_per_sample) {
    const Json reply =
        child_.request({{"do", "run"}, {"samples", seconds.size()}, {"calls", calls_per_sample}});
    const auto times = reply.at("seconds").get<std::vector<double>>();
    if (times.size() != seconds.size()) {
        throw Error(name_ + " gave " + std::to_string(times.size()) + " times where " +
                    std::to_string(seconds.size()) + " were asked for");
    }
    std::ranges::copy(times, seconds.begin());
}

}  // namespace assay::bench
