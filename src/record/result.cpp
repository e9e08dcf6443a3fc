#include "record/result.h"

#include <algorithm>

#include "base/text.h"
#include "record/words.h"

namespace assay::record {

namespace {
constexpr std::array<std::string_view, 3> kWords = {"ok", "failed", "skipped"};
}

std::string_view name(Status status) {
    return word_of(status, kWords);
}

Status parse_status(std::string_view word) {
    return enumerator_of<Status>(word, kWords, "status");
}

std::string Result::identity() const {
    std::vector<std::string> words = {probe, device.substr(0, device.find(':')),
                                      conditions.protocol, what.text()};
    std::erase(words, "");
    return join(words, " ");
}

const Metric* Result::metric(std::string_view metric_name) const {
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const Metric& m) { return m.name == metric_name; });
    return found == metrics.end() ? nullptr : &*found;
}

}  // namespace assay::record
