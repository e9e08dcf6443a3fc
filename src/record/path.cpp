#include "record/path.h"

#include "record/words.h"

namespace assay::record {

namespace {
constexpr std::array<std::string_view, 5> kWords = {"unknown", "fast", "portable", "fallback",
                                                    "emulated"};
}

std::string_view name(Path path) {
    return word_of(path, kWords);
}

Path parse_path(std::string_view word) {
    return enumerator_of<Path>(word, kWords, "path");
}

}  // namespace assay::record
