// How long collectives take, by the alpha-beta model: a message costs a latency and its bytes over
// a bandwidth (Hockney 1994; Thakur, Rabenseifner, Gropp 2005 for the algorithms). It knows no
// congestion and no software but what is in the latency: a model, never a measurement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::work {

enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all, send };
std::string_view name(Collective collective);

// From one rank to another, in one direction.
struct Link {
    double latency_s = 0;  // of a message, with what starts it
    double bytes_per_s = 0;
};

// A scale-up domain, in which every rank reaches every other at once, and a network of rails
// between domains: the ranks of the same place in each domain share one.
struct Fabric {
    Link inside;
    std::int64_t domain = 1;  // ranks of one domain
    bool mesh = false;        // point to point: `inside` is what all links of a rank have together
    bool reduces_inside = false;  // in the switch (NVLS)
    Link outside;
    int layers = 1;                // of switches between two domains: 2 layers - 1 on the way
    double switch_s = 0;           // of each
    bool reduces_outside = false;  // in the switches (SHARP)
};

struct CollectiveTime {
    double seconds = 0;
    std::string algorithm;  // "direct", "ring", "tree", "in-network"; "direct + tree" over domains
};

// Of the algorithms that the fabric allows the fastest. `bytes`: the larger buffer of one rank, as
// NCCL's tests count. Within a domain, of n ranks, S bytes, latency a, bandwidth B:
//   all_reduce               direct 2 a + 2 (n-1)/n S/B; in the switch 2 a + S/B
//   all_gather, reduce_scatter  direct a + (n-1)/n S/B
//   all_to_all               a + (n-1)/n S/B
//   send                     a + S/B
// On a mesh, n of its d ranks use (n-1)/(d-1) of B. Over m domains of d ranks, on each rail S/d:
//   all_reduce    reduce_scatter within, all_reduce on the rails (ring 2 (m-1) a + 2 (m-1)/m S/dB,
//                 tree 2 ceil(log2 m) a + 2 S/dB, in-network 2 a + S/dB), all_gather within
//   all_gather, reduce_scatter  on the rails (ring (m-1) a + (m-1)/m S/dB), and within
//   all_to_all    the two parts at once: S (d-1)/n within, S (n-d)/n on the rail
// One rank, or no bytes: nothing to do, 0 s. Throws UsageError for ranks below 1 or a bandwidth
// that is needed and isn't there.
CollectiveTime collective_time(Collective collective, double bytes, std::int64_t ranks,
                               const Fabric& fabric);

// Bytes over time, times the factor that makes it comparable with a link (NCCL's "busbw"):
// all_reduce 2 (n-1)/n, all_gather, reduce_scatter and all_to_all (n-1)/n, send 1.
double bus_bandwidth(Collective collective, double bytes, double seconds, std::int64_t ranks);

}  // namespace assay::work
