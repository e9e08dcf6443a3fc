#include "model/division.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/stage.h"

namespace assay::model {

namespace {

const char* name(Part part) {
    switch (part) {
        case Part::embedding:
            return "embedding";
        case Part::attention:
            return "attention";
        case Part::dense:
            return "feed-forward";
        case Part::experts:
            return "experts";
        case Part::shared_experts:
            return "shared experts";
        case Part::norms:
            return "norms";
        case Part::head:
            return "head";
    }
    return "";
}

std::string divided(std::int64_t units, int ways) {
    if (ways == 1) return "whole";
    if (units < ways) {
        return fmt::format("{} on {} ranks: each held {} times", units, ways,
                           units_of_rank(ways, units));
    }
    const auto padded = units_of_rank(units, ways) * ways;
    return padded == units ? fmt::format("divided by {}", ways)
                           : fmt::format("{} padded to {}, divided by {}", units, padded, ways);
}

std::string replicated(int ranks) {
    return ranks == 1 ? "whole" : fmt::format("replicated on each of {}", ranks);
}

std::string how(const Piece& piece, const Layout& layout) {
    switch (piece.divided) {
        case Piece::Divided::not_at_all:
            break;
        case Piece::Divided::by_tensor:
            return divided(piece.units, layout.tensor);
        case Piece::Divided::by_expert:
            if (layout.expert == 1) {
                return layout.expert_tensor() == 1
                           ? "whole"
                           : fmt::format("each divided by {}", layout.expert_tensor());
            }
            return fmt::format("{} on each of {}{}", units_of_rank(piece.copies, layout.expert),
                               layout.expert,
                               layout.expert_tensor() > 1
                                   ? fmt::format(", each divided by {}", layout.expert_tensor())
                                   : "");
    }
    return replicated(layout.tensor);
}

std::string how(const CacheEntry& entry, const Layout& layout) {
    const int over = layout.tensor / layout.context;
    std::string text = entry.heads > 0 ? divided(entry.heads, over) : replicated(over);
    if (layout.context > 1) text += fmt::format(", tokens divided by {}", layout.context);
    return text;
}

void add(std::vector<Division>& list, const Division& division) {
    const auto alike = std::ranges::find_if(list, [&](const Division& other) {
        return other.what == division.what && other.how == division.how;
    });
    if (alike == list.end()) {
        list.push_back(division);
    } else {
        alike->whole += division.whole;
        alike->on_device += division.on_device;
    }
}

}  // namespace

std::vector<Division> divisions(const Holdings& holdings, const Layout& layout, const Use& use,
                                int stage) {
    std::vector<Division> list;
    if (stage == 0 && holdings.beside > 0) {
        add(list, {use.training ? "beside the language model, frozen" : "beside the language model",
                   holdings.beside, holdings.beside, replicated(layout.tensor)});
    }
    for_each_piece(holdings, layout, stage, [&](const Piece& piece) {
        const double bytes =
            use.training ? piece.parameters * use.training->optimizer.weights : piece.bytes;
        add(list,
            {name(piece.part), bytes, bytes * share_of_device(piece, layout), how(piece, layout)});
    });
    if (use.training) return list;
    std::vector<Division> caches;
    for_each_layer(holdings, layout, stage, [&](const HeldLayer& layer) {
        for (const auto& entry : layer.mixer.cache) {
            add(caches, {"cache: " + entry.what, cached_bytes(entry, {}, use),
                         cached_bytes(entry, layout, use), how(entry, layout)});
        }
        const double state = use.state_bytes * static_cast<double>(layer.mixer.state_elements);
        if (state == 0) return;
        add(caches,
            {"recurrent state", state, state * share_of_rank(layer.mixer.heads, layout.tensor),
             divided(layer.mixer.heads, layout.tensor)});
    });
    list.insert(list.end(), caches.begin(), caches.end());
    return list;
}

std::vector<HeadsOfRank> heads_of_rank(const Holdings& holdings, const Layout& layout) {
    std::vector<HeadsOfRank> list;
    for (const auto& layer : holdings.layers) {
        const auto& mixer = layer.mixer;
        if (mixer.heads == 0) continue;
        const bool latent = mixer.kind == Mixer::Kind::latent;
        HeadsOfRank one{latent                                 ? "MLA"
                        : mixer.kind == Mixer::Kind::attention ? "attention"
                                                               : "recurrence",
                        mixer.heads, units_of_rank(mixer.heads, layout.tensor), 0, std::nullopt};
        one.added = std::max<std::int64_t>(0, one.of_rank * layout.tensor - mixer.heads);
        const auto padded = units_of_rank(one.of_rank, kLatentHeadMultiple) * kLatentHeadMultiple;
        if (latent && padded != one.of_rank) one.kernel_pads_to = padded;
        const bool known = std::ranges::any_of(list, [&](const HeadsOfRank& other) {
            return other.what == one.what && other.heads == one.heads;
        });
        if (!known) list.push_back(one);
    }
    return list;
}

}  // namespace assay::model
