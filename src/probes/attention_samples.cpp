#include "probes/attention_samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace assay::probes {

namespace {

constexpr std::size_t kFewestRows = 4, kMostRows = 48;
constexpr double kDearest = 4;  // budgets that a key may cost where none costs less

// Query heads of a key/value head.
std::int64_t group_of(const work::Attention& p) {
    return p.heads / p.kv_heads;
}

struct Place {
    std::int64_t entry, head;
    bool operator==(const Place&) const = default;
};

// Of batch and heads: corners, a middle entry and a middle head, and where the first group of query
// heads ends, since heads paired otherwise agree in the corners. Entries without a row are left
// out. The most telling first.
std::vector<Place> places_of(const work::Attention& p, bool of_queries) {
    std::vector<std::int64_t> entries;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        const auto rows = of_queries ? work::queries_of(p, entry) : work::keys_of(p, entry);
        if (rows > 0) entries.push_back(entry);
    }
    if (entries.empty()) return {};
    const auto first = entries.front(), last = entries.back(), inner = entries[entries.size() / 2];
    const auto end = (of_queries ? p.heads : p.kv_heads) - 1;
    const auto group = of_queries ? group_of(p) : 1;
    std::vector<Place> places;
    for (const auto& place : {Place{first, 0}, Place{last, end}, Place{inner, std::min(group, end)},
                              Place{first, group - 1}, Place{inner, (end + 1) / 2},
                              Place{first, end}, Place{last, 0}}) {
        if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    }
    return places;
}

// The most telling first: ends, edges of tiles, of windows and of documents, then a spread.
std::vector<std::int64_t> telling_rows(const work::Mask& mask, std::int64_t rows) {
    std::vector<std::int64_t> wanted{rows - 1, 0, 127, 128, 63, 64, rows - 64, rows - 128};
    if (mask.window > 0) {
        wanted.insert(wanted.end(), {mask.window - 1, mask.window, mask.window + 1});
    }
    if (!mask.documents.empty()) {
        const auto first = mask.documents.front(), last = rows - mask.documents.back();
        wanted.insert(wanted.end(), {first - 1, first, last - 1, last});
    }
    if (mask.prefix > 0) wanted.insert(wanted.end(), {mask.prefix - 1, mask.prefix});
    for (std::size_t i = 1; i <= kMostRows; ++i) {
        const double fraction = std::fmod(0.6180339887498949 * static_cast<double>(i), 1.0);
        wanted.push_back(static_cast<std::int64_t>(fraction * static_cast<double>(rows)));
    }
    std::vector<std::int64_t> telling;
    for (const auto row : wanted) {
        const bool known = std::ranges::find(telling, row) != telling.end();
        if (row >= 0 && row < rows && !known) telling.push_back(row);
    }
    return telling;
}

// `cost` of a row of an entry, in elements of operands.
template <class Cost>
std::vector<SampledRow> sampled(const work::Attention& p, bool of_queries, double budget,
                                Cost cost) {
    std::vector<SampledRow> rows;
    double spent = 0;
    std::optional<SampledRow> beyond;  // the cheapest that costs more than the budget
    double least = kDearest * budget;
    const auto places = places_of(p, of_queries);
    const auto add = [&](const SampledRow& row) {
        if (std::ranges::find(rows, row) != rows.end() || rows.size() >= kMostRows) return;
        const double more = cost(row);
        const bool needed = of_queries && rows.size() < kFewestRows;
        if (!needed && spent + more > budget) {
            if (more <= least && (!beyond || more < least)) {
                beyond = row;
                least = more;
            }
            return;
        }
        spent += more;
        rows.push_back(row);
    };
    std::vector<std::vector<std::int64_t>> telling;  // of each place
    std::size_t most = 0;
    for (const auto& place : places) {
        const auto count =
            of_queries ? work::queries_of(p, place.entry) : work::keys_of(p, place.entry);
        telling.push_back(telling_rows(p.mask, count));
        most = std::max(most, telling.back().size());
    }
    // Each place in turn, so that few rows lie in all of them.
    for (std::size_t round = 0; round < most; ++round) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto& of_place = telling[i];
            const auto row = (round + i) % most;
            if (row < of_place.size()) add({places[i].entry, places[i].head, of_place[row]});
        }
    }
    if (rows.empty() && beyond) rows.push_back(*beyond);
    std::ranges::sort(rows);
    return rows;
}

}  // namespace

std::vector<SampledRow> sampled_queries(const work::Attention& p, double budget) {
    return sampled(p, true, budget, [&](const SampledRow& at) {
        const work::MaskRows rows(p.mask, work::queries_of(p, at.entry),
                                  work::keys_of(p, at.entry));
        std::int64_t pairs = 0;
        for (const auto& span : rows.seen(at.row)) pairs += span.size();
        return static_cast<double>(pairs) * static_cast<double>(p.dim + p.value_dim);
    });
}

std::vector<SampledRow> sampled_keys(const work::Attention& p, double budget) {
    std::map<std::pair<std::int64_t, std::int64_t>, double> known;  // it is the same for all heads
    return sampled(p, false, budget, [&](const SampledRow& at) {
        const auto [cost, is_new] = known.try_emplace({at.entry, at.row});
        if (!is_new) return cost->second;
        const work::MaskRows rows(p.mask, work::queries_of(p, at.entry),
                                  work::keys_of(p, at.entry));
        std::int64_t pairs = 0;
        for (std::int64_t query = 0; query < rows.queries(); ++query) {
            pairs += rows.sees(query, at.row) ? 1 : 0;
        }
        cost->second = static_cast<double>(pairs * group_of(p)) *
                       static_cast<double>(2 * p.dim + 3 * p.value_dim);
        return cost->second;
    });
}

}  // namespace assay::probes
