// Any bytes as a mask or a modifier: either one whose name is read back and whose tiles hold what
// its rows see, or one UsageError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "work/score_modifier.h"
#include "work/tile_plan.h"

namespace {

using namespace assay;
using namespace assay::work;

void check_mask(std::string_view text, std::int64_t queries, std::int64_t keys) {
    const auto mask = parse_mask(text, queries, keys);
    if (parse_mask(name(mask), queries, keys) != mask) std::abort();
    const MaskRows rows(mask, queries, keys);
    std::int64_t pairs = 0;
    for (std::int64_t i = 0; i < queries; ++i) {
        std::int64_t end = -1;
        for (const auto& span : rows.seen(i)) {
            if (span.lo <= end || span.size() == 0 || span.hi > keys) std::abort();
            end = span.hi;
            pairs += span.size();
        }
    }
    if (visible_pairs(mask, queries, keys) != pairs) std::abort();
    const auto plan = plan_tiles(mask, queries, keys, 5, 3);
    if ((pairs == 0) != plan.tiles.empty()) std::abort();
    if (plan.empty_tiles() < 0 || turned(plan).tiles.size() != plan.tiles.size()) std::abort();
}

template <class Check>
void attempt(Check check) {
    try {
        check();
    } catch (const UsageError& e) {
        if (e.what()[0] == '\0' || e.hint().empty()) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    attempt([&] {
        const auto modifier = parse_score_modifier(text);
        if (parse_score_modifier(name(modifier)) != modifier) std::abort();
    });
    attempt([&] { check_mask(text, 24, 24); });
    attempt([&] { check_mask(text, 7, 20); });
    return 0;
}
