#include "cpu/attention_backward.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace assay::cpu {

using work::AttentionTensor;
using Kind = AttentionJob::Kind;

namespace {

std::int64_t fitting(std::int64_t floats_a_tile) {
    constexpr std::int64_t kMost = 8;
    constexpr std::int64_t kFloats = 1 << 18;  // half of a usual L2
    return std::clamp<std::int64_t>(kFloats / floats_a_tile, 1, kMost);
}

// Jobs with their cost in products.
std::vector<AttentionJob> weighed(std::vector<AttentionJob> jobs, std::int64_t products) {
    for (auto& job : jobs) job.cost *= products;
    return jobs;
}

}  // namespace

BackwardJobs backward_jobs(const AttentionPlan& plan, int threads) {
    const auto& problem = plan.problem();
    const auto dim = problem.dim, value_dim = problem.value_dim;
    BackwardJobs how;
    how.key_tiles = fitting(kKeyTile * (3 * dim + 2 * value_dim));
    how.row_tiles = fitting(kQueryTile * (2 * dim + value_dim));
    auto one = weighed(plan.jobs(Kind::both, 1, threads), 5);
    auto two = weighed(plan.jobs(Kind::keys, how.key_tiles, threads), 4);
    std::ranges::move(weighed(plan.jobs(Kind::queries, how.row_tiles, threads), 3),
                      std::back_inserter(two));
    std::ranges::stable_sort(two, std::ranges::greater(), &AttentionJob::cost);
    constexpr std::int64_t kMostKept = std::int64_t{16} << 20;  // floats: 64 MiB a thread
    const auto kept = plan.most_row_tiles();
    how.one_pass =
        kept * kQueryTile * dim <= kMostKept && makespan(one, threads) <= makespan(two, threads);
    how.jobs = std::move(how.one_pass ? one : two);
    if (how.one_pass) {
        how.row_tiles = 1;
        how.kept_row_tiles = kept;
    }
    return how;
}

AttentionBackward::AttentionBackward(const AttentionCall& call, Carver& carver,
                                     const BackwardJobs& how)
    : call_(call),
      scores_(call, carver),
      key_stride_(call.stride(call.problem().dim)),
      value_stride_(call.stride(call.problem().value_dim)),
      s_(carver.floats(kKeyTile * kQueryTile)),
      d_p_(carver.floats(kKeyTile * kQueryTile)),
      scratch_(carver.floats(std::max(key_stride_, value_stride_))),
      kept_(carver.floats(how.kept_row_tiles * kQueryTile * key_stride_)),
      keys_(static_cast<std::size_t>(how.key_tiles)),
      queries_(static_cast<std::size_t>(how.row_tiles)) {
    const auto& problem = call.problem();
    const auto panel = std::int64_t{call.kernels.panel};
    const auto key_panels = call.panels(problem.dim) * panel;
    const auto value_panels = call.panels(problem.value_dim) * panel;
    for (auto& keys : keys_) {
        keys.rows = carver.floats(kKeyTile * key_stride_);
        keys.panels = carver.floats(kKeyTile * key_panels);
        keys.values = carver.floats(kKeyTile * value_stride_);
        keys.d_k = carver.floats(kKeyTile * key_stride_);
        keys.d_v = carver.floats(kKeyTile * value_stride_);
    }
    for (auto& queries : queries_) {
        queries.turned = carver.floats(kQueryTile * problem.dim);
        queries.panels = carver.floats(kQueryTile * key_panels);
        queries.turned_gradients = carver.floats(kQueryTile * problem.value_dim);
        queries.gradient_panels = carver.floats(kQueryTile * value_panels);
        queries.lse = carver.floats(kQueryTile);
        queries.delta = carver.floats(kQueryTile);
        queries.d_q = carver.floats(how.one_pass ? 0 : kQueryTile * key_stride_);
    }
}

void AttentionBackward::run(const AttentionJob& job) {
    if (job.kind == Kind::queries) {
        gradients_of_queries(job);
    } else {
        gradients_of_keys(job);
    }
}

void AttentionBackward::gradients_of_keys(const AttentionJob& job) {
    const auto& shape = call_.plan.shape(job.entry);
    const bool both = job.kind == Kind::both;
    const auto kept = [&](std::int64_t t) { return kept_ + t * kQueryTile * key_stride_; };
    if (both) std::fill_n(kept_, shape.row_tiles() * kQueryTile * key_stride_, 0.0F);
    const auto step = static_cast<std::int64_t>(keys_.size());
    for (auto first = job.first; first < job.end; first += step) {
        const auto end = std::min(job.end, first + step);
        const auto slot = [&](std::int64_t tile) -> Keys& {
            return keys_[static_cast<std::size_t>(tile - first)];
        };
        for (auto tile = first; tile < end; ++tile) {
            copy_keys(job, tile, both, slot(tile));
            std::fill_n(slot(tile).d_k, kKeyTile * key_stride_, 0.0F);
            std::fill_n(slot(tile).d_v, kKeyTile * value_stride_, 0.0F);
        }
        for (std::int64_t t = 0; t < shape.row_tiles(); ++t) {
            const auto rows = shape.row_tile(job.kv_head, t);
            const auto* tile = shape.tiles(rows, first);
            const auto* last = shape.tiles_end(rows);
            if (tile == last || tile->key_tile >= end) continue;
            auto& queries = queries_.front();
            copy_queries(job, t, true, queries);
            for (; tile != last && tile->key_tile < end; ++tile) {
                const auto& keys = slot(tile->key_tile);
                const auto& tile_scores = scores(job, queries, keys, *tile);
                add_to_keys(tile_scores, queries, keys);
                if (both) add_to_queries(tile_scores, queries, keys, kept(t));
            }
        }
        for (auto tile = first; tile < end; ++tile) write_keys(job, tile, slot(tile));
    }
    if (!both) return;
    for (std::int64_t t = 0; t < shape.row_tiles(); ++t) {
        write_queries(job, shape.row_tile(job.kv_head, t), kept(t));
    }
}

void AttentionBackward::gradients_of_queries(const AttentionJob& job) {
    const auto& shape = call_.plan.shape(job.entry);
    const auto count = job.end - job.first;
    std::vector<const work::Tile*> next;
    for (std::int64_t t = 0; t < count; ++t) {
        auto& queries = queries_[static_cast<std::size_t>(t)];
        copy_queries(job, job.first + t, false, queries);
        std::fill_n(queries.d_q, kQueryTile * key_stride_, 0.0F);
        next.push_back(shape.tiles(queries.rows));
    }
    auto& keys = keys_.front();
    for (std::int64_t key_tile = 0; key_tile < shape.key_tiles(); ++key_tile) {
        bool copied = false;
        for (std::size_t t = 0; t < next.size(); ++t) {
            auto& queries = queries_[t];
            if (next[t] == shape.tiles_end(queries.rows) || next[t]->key_tile != key_tile) continue;
            if (!copied) copy_keys(job, key_tile, true, keys);
            copied = true;
            const auto& tile_scores = scores(job, queries, keys, *next[t]);
            add_to_queries(tile_scores, queries, keys, queries.d_q);
            ++next[t];
        }
    }
    for (std::size_t t = 0; t < next.size(); ++t) {
        write_queries(job, queries_[t].rows, queries_[t].d_q);
    }
}

void AttentionBackward::copy_keys(const AttentionJob& job, std::int64_t tile, bool as_panels,
                                  Keys& keys) {
    const int count = call_.keys_of_tile(call_.plan.shape(job.entry), tile);
    const auto rows = [&](const void* base, AttentionTensor tensor) {
        return call_.rows(base, tensor, job.entry, job.kv_head, tile * kKeyTile, count);
    };
    const auto of_k = rows(call_.operands.k, AttentionTensor::k);
    keys.finite = call_.kernels.rows(of_k, keys.rows, key_stride_);
    if (as_panels) {
        call_.kernels.panels(of_k, keys.panels, std::int64_t{kKeyTile} * call_.kernels.panel);
    }
    call_.kernels.rows(rows(call_.operands.v, AttentionTensor::v), keys.values, value_stride_);
}

void AttentionBackward::copy_queries(const AttentionJob& job, std::int64_t tile, bool as_panels,
                                     Queries& queries) {
    const auto& problem = call_.problem();
    const auto rows = call_.plan.shape(job.entry).row_tile(job.kv_head, tile);
    queries.rows = rows;
    const auto& operands = call_.operands;
    queries.finite = call_.turn(operands.q, AttentionTensor::q, job.entry, rows,
                                call_.query_factor(), queries.turned);
    queries.gradients_finite =
        call_.turn(operands.d_o, AttentionTensor::o, job.entry, rows, 1, queries.turned_gradients);
    if (as_panels) {
        call_.copy_panels(operands.q, AttentionTensor::q, job.entry, rows, queries.panels);
        call_.copy_panels(operands.d_o, AttentionTensor::o, job.entry, rows,
                          queries.gradient_panels);
    }
    for (int r = 0; r < rows.rows(); ++r) {
        const auto head = rows.head + r / rows.queries;
        const auto query = rows.query + r % rows.queries;
        queries.lse[r] =
            operands.lse[call_.plan.position(AttentionTensor::lse, job.entry, head, query)] *
            kLog2E;
        const auto at = [&](const void* base) {
            return call_.row(base, AttentionTensor::o, job.entry, head, query);
        };
        queries.delta[r] = call_.kernels.dot(at(operands.o), at(operands.d_o), problem.type,
                                             static_cast<int>(problem.value_dim));
    }
}

const Scores& AttentionBackward::scores(const AttentionJob& job, const Queries& queries,
                                        const Keys& keys, const work::Tile& tile) {
    const auto& problem = call_.problem();
    const auto& scores = scores_.prepare(job.entry, queries.rows, tile, s_);
    Product product{.m = scores.keys,
                    .n = queries.rows.rows(),
                    .k = static_cast<int>(problem.dim),
                    .a = keys.rows + scores_.first() * key_stride_,
                    .a_stride = key_stride_,
                    .b = queries.turned,
                    .panel_stride = problem.dim * call_.kernels.panel,
                    .c = s_,
                    .c_stride = kQueryTile};
    call_.kernels.product(product);
    product.k = static_cast<int>(problem.value_dim);
    product.a = keys.values + scores_.first() * value_stride_;
    product.a_stride = value_stride_;
    product.b = queries.turned_gradients;
    product.panel_stride = problem.value_dim * call_.kernels.panel;
    product.c = d_p_;
    call_.kernels.product(product);
    call_.kernels.gradient(scores, d_p_, queries.lse, queries.delta);
    return scores;
}

void AttentionBackward::add_to_queries(const Scores& scores, const Queries& queries,
                                       const Keys& keys, float* d_q) {
    add_product(call_.kernels,
                {.m = queries.rows.rows(),
                 .n = static_cast<int>(call_.problem().dim),
                 .k = scores.keys,
                 .a = d_p_,
                 .a_stride = kQueryTile,
                 .a_turned = true,
                 .b = keys.panels + std::int64_t{scores_.first()} * call_.kernels.panel,
                 .panel_stride = std::int64_t{kKeyTile} * call_.kernels.panel,
                 .c = d_q,
                 .c_stride = key_stride_,
                 .into = Into::add},
                keys.finite, scores.seen, false, scratch_);
}

void AttentionBackward::add_to_keys(const Scores& scores, const Queries& queries,
                                    const Keys& keys) {
    Product product{.m = scores.keys,
                    .n = static_cast<int>(call_.problem().value_dim),
                    .k = queries.rows.rows(),
                    .a = s_,
                    .a_stride = kQueryTile,
                    .b = queries.gradient_panels,
                    .panel_stride = std::int64_t{kQueryTile} * call_.kernels.panel,
                    .c = keys.d_v + scores_.first() * value_stride_,
                    .c_stride = value_stride_,
                    .into = Into::add};
    add_product(call_.kernels, product, queries.gradients_finite, scores.seen, true, scratch_);
    product.n = static_cast<int>(call_.problem().dim);
    product.a = d_p_;
    product.b = queries.panels;
    product.c = keys.d_k + scores_.first() * key_stride_;
    product.c_stride = key_stride_;
    add_product(call_.kernels, product, queries.finite, scores.seen, true, scratch_);
}

void AttentionBackward::write_queries(const AttentionJob& job, const RowTile& rows,
                                      const float* d_q) {
    const auto& problem = call_.problem();
    const auto scale = static_cast<float>(work::scale_of(problem));
    for (int r = 0; r < rows.rows(); ++r) {
        call_.kernels.narrow(
            d_q + r * key_stride_, scale, static_cast<int>(problem.dim), problem.type,
            call_.row(call_.operands.d_q, AttentionTensor::q, job.entry,
                      rows.head + r / rows.queries, rows.query + r % rows.queries));
    }
}

void AttentionBackward::write_keys(const AttentionJob& job, std::int64_t tile, const Keys& keys) {
    const auto& problem = call_.problem();
    const auto scale = static_cast<float>(work::scale_of(problem));
    const int count = call_.keys_of_tile(call_.plan.shape(job.entry), tile);
    for (int r = 0; r < count; ++r) {
        const auto key = tile * kKeyTile + r;
        call_.kernels.narrow(
            keys.d_k + r * key_stride_, scale, static_cast<int>(problem.dim), problem.type,
            call_.row(call_.operands.d_k, AttentionTensor::k, job.entry, job.kv_head, key));
        call_.kernels.narrow(
            keys.d_v + r * value_stride_, 1, static_cast<int>(problem.value_dim), problem.type,
            call_.row(call_.operands.d_v, AttentionTensor::v, job.entry, job.kv_head, key));
    }
}

}  // namespace assay::cpu
