#include "work/collective.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"

namespace assay::work {

namespace {

double part_sent(double n) {
    return (n - 1) / n;
}

double check(double bytes_per_s, const char* which) {
    if (bytes_per_s > 0) return bytes_per_s;
    throw UsageError(std::string("the bandwidth ") + which + " isn't known",
                     "give it: a collective of several ranks needs it");
}

Link within(const Fabric& fabric, double n) {
    Link link = fabric.inside;
    check(link.bytes_per_s, "within a scale-up domain");
    const auto domain = static_cast<double>(fabric.domain);
    if (fabric.mesh && domain > 1) link.bytes_per_s *= (n - 1) / (domain - 1);
    return link;
}

CollectiveTime inside_time(Collective collective, double bytes, double n, const Fabric& fabric) {
    if (n <= 1) return {};
    const Link link = within(fabric, n);
    const double whole = bytes / link.bytes_per_s;
    const double a = link.latency_s;
    switch (collective) {
        case Collective::all_reduce: {
            const double direct = 2 * a + 2 * part_sent(n) * whole;
            const double in_switch = 2 * a + whole;
            if (fabric.reduces_inside && in_switch < direct) return {in_switch, "in-network"};
            return {direct, "direct"};
        }
        case Collective::all_gather:
        case Collective::reduce_scatter:
        case Collective::all_to_all:
            return {a + part_sent(n) * whole, "direct"};
        case Collective::send:
            return {a + whole, "direct"};
    }
    return {};
}

Link rail(const Fabric& fabric) {
    Link link = fabric.outside;
    check(link.bytes_per_s, "between scale-up domains");
    link.latency_s += (2 * fabric.layers - 1) * fabric.switch_s;
    return link;
}

// All-reduce of `bytes` over the m ranks of one rail.
CollectiveTime rail_all_reduce(double bytes, double m, const Fabric& fabric) {
    const Link link = rail(fabric);
    const double whole = bytes / link.bytes_per_s;
    const double a = link.latency_s;
    std::array<CollectiveTime, 3> times{{
        {2 * (m - 1) * a + 2 * part_sent(m) * whole, "ring"},
        {2 * std::ceil(std::log2(m)) * a + 2 * whole, "tree"},
        {2 * a + whole, "in-network"},
    }};
    const auto last = fabric.reduces_outside ? times.end() : times.end() - 1;
    return *std::min_element(times.begin(), last, [](const auto& one, const auto& other) {
        return one.seconds < other.seconds;
    });
}

CollectiveTime sum(const CollectiveTime& inside, const CollectiveTime& outside) {
    if (inside.algorithm.empty()) return outside;
    return {inside.seconds + outside.seconds, inside.algorithm + " + " + outside.algorithm};
}

}  // namespace

std::string_view name(Collective collective) {
    switch (collective) {
        case Collective::all_reduce:
            return "all_reduce";
        case Collective::all_gather:
            return "all_gather";
        case Collective::reduce_scatter:
            return "reduce_scatter";
        case Collective::all_to_all:
            return "all_to_all";
        case Collective::send:
            return "send";
    }
    return "?";
}

CollectiveTime collective_time(Collective collective, double bytes, std::int64_t ranks,
                               const Fabric& fabric) {
    if (ranks < 1) {
        throw UsageError("a collective of " + std::to_string(ranks) + " ranks",
                         "ask for at least one");
    }
    if (ranks == 1 || bytes <= 0) return {};
    const std::int64_t ranks_inside = std::clamp<std::int64_t>(ranks, 1, fabric.domain);
    const auto n = static_cast<double>(ranks);
    const auto d = static_cast<double>(ranks_inside);
    if (ranks_inside == ranks) return inside_time(collective, bytes, n, fabric);

    const double m = std::ceil(n / d);
    const Link link = rail(fabric);
    switch (collective) {
        case Collective::all_reduce: {
            CollectiveTime inside = inside_time(Collective::reduce_scatter, bytes, d, fabric);
            inside.seconds *= 2;  // and the all_gather
            return sum(inside, rail_all_reduce(bytes / d, m, fabric));
        }
        case Collective::all_gather:
        case Collective::reduce_scatter:
            return sum(
                inside_time(collective, bytes, d, fabric),
                {(m - 1) * link.latency_s + part_sent(m) * bytes / d / link.bytes_per_s, "ring"});
        case Collective::all_to_all: {
            const CollectiveTime inside =
                inside_time(collective, bytes * d / n, d, fabric);  // that stays in the domain
            const double outside = link.latency_s + bytes * (n - d) / n / link.bytes_per_s;
            return {std::max(inside.seconds, outside), "direct"};
        }
        case Collective::send:
            return {link.latency_s + bytes / link.bytes_per_s, "direct"};
    }
    return {};
}

double bus_bandwidth(Collective collective, double bytes, double seconds, std::int64_t ranks) {
    const double part = part_sent(static_cast<double>(ranks));
    switch (collective) {
        case Collective::all_reduce:
            return 2 * part * bytes / seconds;
        case Collective::all_gather:
        case Collective::reduce_scatter:
        case Collective::all_to_all:
            return part * bytes / seconds;
        case Collective::send:
            return bytes / seconds;
    }
    return 0;
}

}  // namespace assay::work
