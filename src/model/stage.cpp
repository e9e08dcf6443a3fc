#include "model/stage.h"

namespace assay::model {

namespace {

std::int64_t entries(const CacheEntry& entry, std::int64_t context) {
    const auto kept = entry.window ? std::min(context, *entry.window) : context;
    return kept / entry.stride;  // whole ones, as cache.h
}

}  // namespace

double share_of_device(const Piece& piece, const Layout& layout) {
    switch (piece.divided) {
        case Piece::Divided::not_at_all:
            return 1;
        case Piece::Divided::by_tensor:
            return share_of_rank(piece.units, layout.tensor);
        case Piece::Divided::by_expert:
            return share_of_rank(piece.copies, layout.expert) *
                   share_of_rank(piece.units, layout.expert_tensor());
    }
    return 1;
}

double cached_bytes(const CacheEntry& entry, const Layout& layout, const Use& use) {
    const double heads =
        entry.heads > 0 ? share_of_rank(entry.heads, layout.tensor / layout.context) : 1;
    return entry_bytes(entry, use.cache) * heads *
           static_cast<double>(units_of_rank(entries(entry, use.context), layout.context));
}

LayerRange layers_of(const Holdings& holdings, const Layout& layout, int stage) {
    const auto counts =
        stage_layers(static_cast<std::int64_t>(holdings.layers.size()), layout.pipeline);
    std::int64_t first = 0;
    for (int i = 0; i < stage; ++i) first += counts[static_cast<std::size_t>(i)];
    return {static_cast<std::size_t>(first),
            static_cast<std::size_t>(first + counts[static_cast<std::size_t>(stage)])};
}

}  // namespace assay::model
