#include "work/attention_tiles.h"

namespace assay::work {

TileCounts count_tiles(const Attention& p) {
    if (!p.ragged()) return p.batch * count_tiles(p.mask, p.queries, p.keys);
    TileCounts sum;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        sum += count_tiles(p.mask, queries_of(p, entry), keys_of(p, entry));
    }
    return sum;
}

double tile_flop(const Attention& p, AttentionPass pass) {
    return flop_of_pairs(p, pass, static_cast<double>(count_tiles(p).pairs));
}

}  // namespace assay::work
