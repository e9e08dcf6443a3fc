#include "cpu/attention_forward.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace assay::cpu {

using work::AttentionTensor;

namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

}  // namespace

std::int64_t most_forward_tiles(const work::Attention& problem) {
    constexpr std::int64_t kMost = 8;          // copying keys takes a tenth of the time of one tile
    constexpr std::int64_t kFloats = 1 << 18;  // half of a usual L2
    return std::clamp<std::int64_t>(kFloats / (kQueryTile * (problem.dim + problem.value_dim)), 1,
                                    kMost);
}

AttentionForward::AttentionForward(const AttentionCall& call, Carver& carver, std::int64_t tiles)
    : call_(call),
      scores_(call, carver),
      key_stride_(call.stride(call.problem().dim)),
      value_stride_(call.stride(call.problem().value_dim)),
      keys_(carver.floats(kKeyTile * key_stride_)),
      values_(carver.floats(call.panels(call.problem().value_dim) * kKeyTile * call.kernels.panel)),
      s_(carver.floats(kKeyTile * kQueryTile)),
      shrink_(carver.floats(kQueryTile)),
      scratch_(carver.floats(value_stride_)),
      states_(static_cast<std::size_t>(tiles)) {
    for (auto& state : states_) {
        state.queries = carver.floats(kQueryTile * call.problem().dim);
        state.output = carver.floats(kQueryTile * value_stride_);
        state.largest = carver.floats(kQueryTile);
        state.sum = carver.floats(kQueryTile);
    }
}

void AttentionForward::run(const AttentionJob& job) {
    const auto count = job.end - job.first;
    for (std::int64_t t = 0; t < count; ++t) {
        begin(job, job.first + t, states_[static_cast<std::size_t>(t)]);
    }
    for (;;) {
        auto tile = std::numeric_limits<std::int32_t>::max();
        for (std::int64_t t = 0; t < count; ++t) {
            const auto& state = states_[static_cast<std::size_t>(t)];
            if (state.next != state.end) tile = std::min(tile, state.next->key_tile);
        }
        if (tile == std::numeric_limits<std::int32_t>::max()) break;
        copy_keys(job, tile);
        for (std::int64_t t = 0; t < count; ++t) {
            auto& state = states_[static_cast<std::size_t>(t)];
            if (state.next == state.end || state.next->key_tile != tile) continue;
            meet(job, state);
            ++state.next;
        }
    }
    for (std::int64_t t = 0; t < count; ++t) finish(job, states_[static_cast<std::size_t>(t)]);
}

void AttentionForward::begin(const AttentionJob& job, std::int64_t tile, State& state) {
    const auto& shape = call_.plan.shape(job.entry);
    state.rows = shape.row_tile(job.kv_head, tile);
    state.next = shape.tiles(state.rows);
    state.end = shape.tiles_end(state.rows);
    call_.turn(call_.operands.q, AttentionTensor::q, job.entry, state.rows, call_.query_factor(),
               state.queries);
    std::fill_n(state.output, kQueryTile * value_stride_, 0.0F);
    std::fill_n(state.largest, kQueryTile, kNothing);
    std::fill_n(state.sum, kQueryTile, 0.0F);
}

void AttentionForward::copy_keys(const AttentionJob& job, std::int64_t tile) {
    const int keys = call_.keys_of_tile(call_.plan.shape(job.entry), tile);
    const auto rows = [&](const void* base, AttentionTensor tensor) {
        return call_.rows(base, tensor, job.entry, job.kv_head, tile * kKeyTile, keys);
    };
    call_.kernels.rows(rows(call_.operands.k, AttentionTensor::k), keys_, key_stride_);
    values_finite_ = call_.kernels.panels(rows(call_.operands.v, AttentionTensor::v), values_,
                                          std::int64_t{kKeyTile} * call_.kernels.panel);
}

void AttentionForward::meet(const AttentionJob& job, State& state) {
    const auto& problem = call_.problem();
    const auto& scores = scores_.prepare(job.entry, state.rows, *state.next, s_);
    const int rows = state.rows.rows();
    call_.kernels.product({.m = scores.keys,
                           .n = rows,
                           .k = static_cast<int>(problem.dim),
                           .a = keys_ + scores_.first() * key_stride_,
                           .a_stride = key_stride_,
                           .b = state.queries,
                           .panel_stride = problem.dim * call_.kernels.panel,
                           .c = s_,
                           .c_stride = kQueryTile});
    call_.kernels.softmax(scores, {state.largest, state.sum, shrink_});
    add_product(call_.kernels,
                {.m = rows,
                 .n = static_cast<int>(problem.value_dim),
                 .k = scores.keys,
                 .a = s_,
                 .a_stride = kQueryTile,
                 .a_turned = true,
                 .b = values_ + std::int64_t{scores_.first()} * call_.kernels.panel,
                 .panel_stride = std::int64_t{kKeyTile} * call_.kernels.panel,
                 .c = state.output,
                 .c_stride = value_stride_,
                 .into = Into::add,
                 .factor = shrink_},
                values_finite_, scores.seen, false, scratch_);
}

void AttentionForward::finish(const AttentionJob& job, const State& state) {
    const auto& problem = call_.problem();
    for (int r = 0; r < state.rows.rows(); ++r) {
        const auto head = state.rows.head + r / state.rows.queries;
        const auto query = state.rows.query + r % state.rows.queries;
        const float sum = state.sum[r];
        call_.kernels.narrow(
            state.output + r * value_stride_, sum == 0 ? 0 : 1 / sum,
            static_cast<int>(problem.value_dim), problem.type,
            call_.row(call_.operands.o, AttentionTensor::o, job.entry, head, query));
        const double lse =
            (static_cast<double>(state.largest[r]) + std::log2(static_cast<double>(sum))) *
            std::numbers::ln2;
        call_.operands.lse[call_.plan.position(AttentionTensor::lse, job.entry, head, query)] =
            sum == 0 ? kNothing : static_cast<float>(lse);
    }
}

}  // namespace assay::cpu
