#include "record/run.h"

#include <chrono>
#include <cstdint>
#include <random>

#include "record/words.h"

namespace assay::record {

namespace {
constexpr std::array<std::string_view, 3> kWords = {"complete", "interrupted", "failed"};
}

std::string_view name(RunState state) {
    return word_of(state, kWords);
}

RunState parse_run_state(std::string_view word) {
    return enumerator_of<RunState>(word, kWords, "run state");
}

// The layout of a ULID (github.com/ulid/spec): 48 bits of milliseconds since 1970, then 80 random
// bits, 5 bits a character, most significant first, so that ids sort by time as text.
std::string new_run_id() {
    // Crockford's base 32 has no I, L, O and U: nothing to misread aloud.
    constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    constexpr std::size_t kTimeDigits = 10;
    constexpr std::size_t kRandomDigits = 16;

    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    auto time = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count());
    std::string id(kTimeDigits + kRandomDigits, '0');
    for (std::size_t i = kTimeDigits; i-- > 0; time /= 32) id[i] = kDigits[time % 32];

    std::random_device source;
    for (std::size_t i = kTimeDigits; i < id.size(); ++i) id[i] = kDigits[source() % 32];
    return id;
}

}  // namespace assay::record
