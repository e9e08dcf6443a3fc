// The rates that a predicted time stands on, each with a range and where it comes from: measured
// here, else published as measured, else the datasheet's figure times a stated share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "catalog/accelerator.h"
#include "catalog/published.h"
#include "work/collective.h"

namespace assay::plan {

// Of a rate or a cost: `low` is the end that makes things slower, `high` the faster one.
struct Rate {
    double value = 0, low = 0, high = 0;
    std::string source;

    bool known() const { return value > 0; }
};

// "bf16", "fp8" or "fp4": how products of an operand type are told here; "" for others. fp16 runs
// at the rate of bf16.
std::string product_type(const std::string& type);

// Which of the three a prediction is made with.
enum class Edge { low, middle, high };
double at(const Rate& rate, Edge edge);

// A rate that `assay` measured on such a device.
struct Measured {
    std::string of;  // "bf16", "fp8": products; "memory"
    Rate rate;       // FLOP/s, B/s
};

// How servers are joined. The default is one 400 Gb/s rail for each device, over two layers of
// switches that don't reduce.
struct Network {
    Rate rail{50e9 * 0.8, 50e9 * 0.5, 50e9 * 0.95,
              "400 Gb/s a device x 0.8 (0.5 to 0.95), assumed"};
    int layers = 2;
    bool reduces = false;
    // Collectives within a domain done by its switch (NVLS).
    bool reduces_inside = false;
};
// Of a bandwidth in GB/s for each device and direction, of which the same shares are reached.
Rate rail_of(double gigabytes_per_s);

struct Rates {
    std::map<std::string, Rate> product;  // FLOP/s, dense, of large products: "bf16", "fp8", "fp4"
    Rate memory;                          // B/s read
    Rate link;                            // B/s, one direction, to the scale-up domain
    std::int64_t domain = 1;
    bool mesh = false;
    Network network;
    // Shares of the product rate that other kernels reach, and latencies in seconds: the same for
    // every device, since nobody publishes them by device.
    Rate attention, grouped, recurrence;
    Rate message, sublayer, step;

    // The type that weights of a stored format are multiplied in: "fp8" for fp8, "fp4" for nvfp4;
    // "bf16" for all else, int4 and mxfp4 among them, which are unpacked; and where the device
    // lacks the type, the next wider one.
    std::string compute_type(const std::string& format) const;
    // Every rate with its name and unit, for the record.
    struct Named {
        std::string name, unit;
        Rate rate;
    };
    std::vector<Named> all() const;
};

// Shares of a datasheet that are reached where nothing is measured (docs/planning.md has the
// figures that they are from).
Rates rates_of(const catalog::Accelerator& device, const std::vector<catalog::Published>& published,
               const std::vector<Measured>& measured, const Network& network);

// The rates of one edge.
struct Speeds {
    std::map<std::string, double> product;
    double memory = 0;
    double attention = 0, grouped = 0, recurrence = 0;
    double sublayer = 0, step = 0;
    work::Fabric fabric;
};
Speeds speeds_at(const Rates& rates, Edge edge);

}  // namespace assay::plan
