#include "plan/fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::plan {

namespace {

// Beyond what any device holds of any model.
constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;

// The longest context whose cache is within every stage's room.
std::optional<std::int64_t> largest_context(const model::Holdings& holdings,
                                            const model::Layout& layout, model::Use use,
                                            const std::vector<double>& rooms) {
    const auto holds = [&](std::int64_t context) {
        use.context = context;
        for (int stage = 0; stage < layout.pipeline; ++stage) {
            if (model::variable_bytes(holdings, layout, use, stage) >
                rooms[static_cast<std::size_t>(stage)]) {
                return false;
            }
        }
        return true;
    };
    if (holds(kMostTokens)) return std::nullopt;
    std::int64_t most = 0, least_over = 1;
    while (holds(least_over)) {
        most = least_over;
        least_over *= 2;
    }
    while (least_over - most > 1) {
        const auto middle = most + (least_over - most) / 2;
        (holds(middle) ? most : least_over) = middle;
    }
    return most;
}

}  // namespace

Fit fit(const model::Holdings& holdings, const model::Layout& layout, const model::Use& use,
        const Budget& budget, double capacity) {
    const auto purpose = use.purpose();
    const bool training = purpose == model::Purpose::training;
    Fit result;
    result.layout = layout;
    result.devices = layout.devices(purpose);
    auto one = use;  // request of each replica
    one.batch = training ? 1 : layout.data;
    std::vector<double> rooms;
    double largest_spare = 0;
    for (int stage = 0; stage < layout.pipeline; ++stage) {
        const auto memory = model::memory_of(holdings, layout, use, stage);
        const double room = budget.room(capacity, memory.fixed(purpose));
        const double spare = room - memory.variable(purpose);
        if (stage == 0 || spare < largest_spare) {
            largest_spare = spare;
            result.stage = stage;
            result.memory = memory;
            result.room = room;
        }
        rooms.push_back(room);
        const double each = model::variable_bytes(holdings, layout, one, stage);
        if (each <= 0) continue;
        const auto requests =
            static_cast<std::int64_t>(std::floor(std::max(0.0, room) / each)) * one.batch;
        result.largest_batch = std::min(requests, result.largest_batch.value_or(requests));
    }
    result.missing = std::max(0.0, -largest_spare);
    if (const double each = model::variable_bytes(holdings, layout, one, result.stage); each > 0) {
        result.cache_tokens =
            std::max(0.0, result.room) / each * static_cast<double>(use.context * one.batch);
    }
    result.largest_context = largest_context(holdings, layout, use, rooms);
    return result;
}

double missing_bytes(const model::Holdings& holdings, const model::Layout& layout,
                     const model::Use& use, const Budget& budget, double capacity) {
    double missing = 0;
    for (int stage = 0; stage < layout.pipeline; ++stage) {
        const auto memory = model::memory_of(holdings, layout, use, stage);
        const double room = budget.room(capacity, memory.fixed(use.purpose()));
        missing = std::max(missing, memory.variable(use.purpose()) - room);
    }
    return missing;
}

}  // namespace assay::plan
