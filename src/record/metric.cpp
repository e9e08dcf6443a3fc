#include "record/metric.h"

#include "record/words.h"

namespace assay::record {

namespace {
constexpr std::array<std::string_view, 3> kWords = {"higher", "lower", "neither"};
}

std::string_view name(Better better) {
    return word_of(better, kWords);
}

Better parse_better(std::string_view word) {
    return enumerator_of<Better>(word, kWords, "direction");
}

}  // namespace assay::record
