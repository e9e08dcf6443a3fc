#include "cpu/attention_tile.h"

#include <algorithm>
#include <cmath>

#include "work/score_modifier.h"

namespace assay::cpu {

using work::AttentionTensor;

Rows AttentionCall::rows(const void* base, AttentionTensor tensor, std::int64_t entry,
                         std::int64_t head, std::int64_t first, int count) const {
    return {.data = row(base, tensor, entry, head, first),
            .type = problem().type,
            .stride = problem().of(tensor).row,
            .rows = count,
            .width = static_cast<int>(work::width_of(problem(), tensor))};
}

int AttentionCall::keys_of_tile(const AttentionShape& shape, std::int64_t tile) const {
    return static_cast<int>(std::min<std::int64_t>(kKeyTile, shape.keys() - tile * kKeyTile));
}

float AttentionCall::query_factor() const {
    const double scale = work::scale_of(problem());
    const double cap = problem().modifier.soft_cap;
    return static_cast<float>(scale * (cap > 0 ? 2 / cap : 1) * static_cast<double>(kLog2E));
}

bool AttentionCall::turn(const void* base, AttentionTensor tensor, std::int64_t entry,
                         const RowTile& tile, float factor, float* to) const {
    const auto width = work::width_of(problem(), tensor);
    const auto panel_stride = width * kernels.panel;
    if (tile.rows() % kernels.panel != 0) {
        std::fill_n(to, panels(tile.rows()) * panel_stride, 0.0F);
    }
    bool finite = true;
    for (int h = 0; h < tile.heads; ++h) {
        const auto from = rows(base, tensor, entry, tile.head + h, tile.query, tile.queries);
        finite &= kernels.turned(from, factor, h * tile.queries, kernels.panel, to, panel_stride);
    }
    return finite;
}

bool AttentionCall::copy_panels(const void* base, AttentionTensor tensor, std::int64_t entry,
                                const RowTile& tile, float* to) const {
    bool finite = true;
    for (int h = 0; h < tile.heads; ++h) {
        const auto from = rows(base, tensor, entry, tile.head + h, tile.query, tile.queries);
        finite &= kernels.panels(from, to + std::int64_t{h} * tile.queries * kernels.panel,
                                 std::int64_t{kQueryTile} * kernels.panel);
    }
    return finite;
}

TileScores::TileScores(const AttentionCall& call, Carver& carver)
    : call_(call),
      slopes_(carver.floats(kQueryTile)),
      positions_(carver.floats(kQueryTile)),
      bias_(carver.floats(call.problem().modifier.bias ? kKeyTile * kQueryTile : 0)),
      blocks_(carver.floats(call.problem().mask.blocks.empty() ? 0 : kKeyTile * kQueryTile)) {
    const double cap = call.problem().modifier.soft_cap;
    scores_.cap = static_cast<float>(cap * static_cast<double>(kLog2E));
}

const Scores& TileScores::prepare(std::int64_t entry, const RowTile& rows, const work::Tile& tile,
                                  float* s) {
    const auto& problem = call_.problem();
    const auto& shape = call_.plan.shape(entry);
    first_ = 0;
    scores_.s = s;
    scores_.keys = call_.keys_of_tile(shape, tile.key_tile);
    scores_.queries = rows.rows();
    if (!tile.full) find_ends(shape, rows, tile.key_tile);
    const auto first_key = std::int64_t{tile.key_tile} * kKeyTile + first_;
    if (problem.modifier.alibi) {
        for (int r = 0; r < rows.rows(); ++r) {
            const auto head = rows.head + r / rows.queries;
            const auto query = rows.query + r % rows.queries;
            slopes_[r] = static_cast<float>(work::alibi_slope(head, problem.heads)) * kLog2E;
            positions_[r] = static_cast<float>(shape.rows().position(query) - first_key);
        }
        scores_.slope = slopes_;
        scores_.position = positions_;
    }
    if (problem.modifier.bias) {
        for (int h = 0; h < rows.heads; ++h) {
            const auto at =
                ((rows.head + h) * problem.queries + rows.query) * problem.keys + first_key;
            const auto size = static_cast<std::int64_t>(work::size_of(problem.type));
            const Rows from{.data = static_cast<const std::byte*>(call_.operands.bias) + at * size,
                            .type = problem.type,
                            .stride = problem.keys,
                            .rows = rows.queries,
                            .width = scores_.keys};
            call_.kernels.turned(from, kLog2E, h * rows.queries, kQueryTile, bias_, 0);
        }
        scores_.bias = bias_;
    }
    scores_.seen = nullptr;
    if (!tile.full) {
        find_seen(shape, rows, first_key);
        scores_.seen = &seen_;
    }
    return scores_;
}

void TileScores::find_ends(const AttentionShape& shape, const RowTile& rows, std::int64_t tile) {
    const auto begin = tile * kKeyTile, end = begin + scores_.keys;
    auto first = end, last = begin;
    for (int i = 0; i < rows.queries; ++i) {
        for (const auto& span : shape.rows().spans(rows.query + i)) {
            const auto lo = std::max(span.lo, begin), hi = std::min(span.hi, end);
            if (lo >= hi) continue;
            first = std::min(first, lo);
            last = std::max(last, hi);
        }
    }
    first_ = static_cast<int>(first - begin);
    scores_.keys = static_cast<int>(last - first);
}

void TileScores::find_seen(const AttentionShape& shape, const RowTile& rows,
                           std::int64_t first_key) {
    const auto within = [&](std::int64_t key) {
        return static_cast<float>(std::clamp<std::int64_t>(key - first_key, 0, scores_.keys));
    };
    for (int i = 0; i < rows.queries; ++i) {
        const auto spans = shape.rows().spans(rows.query + i);
        for (int h = 0; h < rows.heads; ++h) {
            for (std::size_t span = 0; span < 2; ++span) {
                seen_.lo[span][h * rows.queries + i] = within(spans[span].lo);
                seen_.hi[span][h * rows.queries + i] = within(spans[span].hi);
            }
        }
    }
    if (!call_.problem().mask.blocks.empty()) find_blocks(rows, first_key);
}

void TileScores::find_blocks(const RowTile& rows, std::int64_t first_key) {
    const int keys = scores_.keys;
    const auto& blocks = call_.problem().mask.blocks;
    for (int i = 0; i < rows.queries; ++i) {
        const auto query_block = (rows.query + i) / blocks.size;
        for (int key = 0; key < keys;) {
            const auto key_block = (first_key + key) / blocks.size;
            const auto end =
                std::min<std::int64_t>(keys, (key_block + 1) * blocks.size - first_key);
            const float sees = blocks.sees(query_block, key_block) ? 1.0F : 0.0F;
            for (; key < end; ++key) {
                for (int h = 0; h < rows.heads; ++h) {
                    blocks_[key * kQueryTile + h * rows.queries + i] = sees;
                }
            }
        }
    }
    seen_.blocks = blocks_;
}

void add_product(const AttentionKernels& kernels, const Product& product, bool finite,
                 const SeenKeys* seen, bool by_key, float* scratch) {
    if (finite || seen == nullptr) {
        kernels.product(product);
        return;
    }
    const auto width = (product.n + 15) / 16 * 16;
    for (int i = 0; i < product.m; ++i) {
        const auto sees = [&](int l) { return by_key ? seen->sees(l, i) : seen->sees(i, l); };
        std::fill_n(scratch, width, 0.0F);
        for (int l = 0; l < product.k;) {
            int end = l;
            while (end < product.k && sees(end)) ++end;
            if (end > l) {
                Product part = product;
                part.m = 1;
                part.k = end - l;
                part.a += product.a_turned ? l * product.a_stride + i : i * product.a_stride + l;
                part.b += std::int64_t{l} * kernels.panel;
                part.c = scratch;
                part.into = Into::extend;
                kernels.product(part);
            }
            l = end + 1;
        }
        const float factor = product.factor == nullptr ? 1.0F : product.factor[i];
        kernels.add(product.c + i * product.c_stride, factor, scratch, product.n);
    }
}

}  // namespace assay::cpu
