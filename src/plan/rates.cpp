#include "plan/rates.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/units.h"
#include "stats/quantile.h"

namespace assay::plan {

namespace {

// Middle, low and high share of the datasheet.
struct Share {
    double middle, low, high;
};
constexpr std::string_view kAssumed = ", assumed";

Rate share_of(const catalog::Figure& figure, const Share& share, std::string_view what) {
    return {figure.value * share.middle, figure.value * share.low, figure.value * share.high,
            fmt::format("{} of the datasheet x {} ({} to {})", what, share.middle, share.low,
                        share.high)};
}

Rate assumed(double middle, double low, double high, std::string_view why) {
    return {middle, low, high, std::string(why) + std::string(kAssumed)};
}

// A large product: small ones say little about a layer's, and the best shape of a search is no
// layer's.
bool is_large(const catalog::Published& row) {
    if (row.what.starts_with("best")) return false;
    constexpr std::int64_t kLarge = 4096;
    return std::ranges::all_of(row.shapes, [](const auto& shape) {
        return std::ranges::all_of(shape, [](std::int64_t d) { return d >= kLarge; });
    });
}

Rate median_of(const std::vector<double>& values, std::string source) {
    const auto [least, most] = std::ranges::minmax(values);
    // Two collectors of the same call differ by 10 to 20 % (ai-dynamo/aiconfigurator's tables).
    constexpr double kCollectors = 0.1;
    return {stats::median(values), least * (1 - kCollectors), most * (1 + kCollectors),
            std::move(source)};
}

std::optional<Rate> published_rate(const std::vector<catalog::Published>& rows,
                                   const catalog::Accelerator& device, const std::string& of) {
    std::vector<double> values;
    std::vector<std::string> sources;
    for (const auto& row : rows) {
        if (row.kind != catalog::Published::Kind::measured || row.device != device.name) continue;
        const bool product = row.probe == "gemm" && product_type(row.dtype) == of && is_large(row);
        const bool memory =
            of == "memory" && row.probe == "memory" && (row.op == "read" || row.op == "copy");
        if (!product && !memory) continue;
        const double unit = row.unit == "TFLOP/s" ? 1e12 : row.unit == "GB/s" ? 1e9 : 0;
        if (unit == 0) continue;
        values.push_back(row.value * unit);
        if (row.most) values.push_back(*row.most * unit);
        if (std::ranges::find(sources, row.source) == sources.end()) sources.push_back(row.source);
    }
    if (values.empty()) return std::nullopt;
    std::string source = "published: ";
    for (std::size_t i = 0; i < sources.size(); ++i) source += (i > 0 ? "; " : "") + sources[i];
    return median_of(values, std::move(source));
}

std::optional<Rate> measured_rate(const std::vector<Measured>& measured, const std::string& of) {
    const auto found = std::ranges::find(measured, of, &Measured::of);
    if (found == measured.end()) return std::nullopt;
    return found->rate;
}

// Published large products reach 47 to 79 % of the datasheet in 16 bits, 38 to 65 % in fp8, 33 to
// 50 % in fp4; reads of the memory 73 to 95 %; collectives in a domain 69 to 107 % of the link, and
// fewer on AMD's meshes as far as anyone says (data/published.toml).
constexpr Share kProduct{0.70, 0.47, 0.79};
constexpr Share kProductFp8{0.58, 0.38, 0.65};
constexpr Share kProductFp4{0.40, 0.33, 0.50};
constexpr Share kMemory{0.84, 0.73, 0.95};
constexpr Share kLink{0.75, 0.55, 1.0};

}  // namespace

std::string product_type(const std::string& type) {
    if (type.starts_with("fp8")) return "fp8";
    if (type == "fp16" || type == "bf16") return "bf16";
    if (type == "fp4" || type == "nvfp4" || type == "mxfp4") return "fp4";
    return "";
}

double at(const Rate& rate, Edge edge) {
    switch (edge) {
        case Edge::low:
            return rate.low;
        case Edge::middle:
            return rate.value;
        case Edge::high:
            return rate.high;
    }
    return rate.value;
}

Rate rail_of(double gigabytes_per_s) {
    const double bytes = gigabytes_per_s * 1e9;
    return {bytes * 0.8, bytes * 0.5, bytes * 0.95,
            fmt::format("{} GB/s a device x 0.8 (0.5 to 0.95)", format_number(gigabytes_per_s))};
}

Rates rates_of(const catalog::Accelerator& device, const std::vector<catalog::Published>& published,
               const std::vector<Measured>& measured, const Network& network) {
    Rates rates;
    const auto choose = [&](const std::string& of) {
        auto rate = measured_rate(measured, of);
        return rate ? rate : published_rate(published, device, of);
    };
    for (const auto& [type, figures] : device.peak) {
        const std::string of = product_type(type);
        if (of.empty() || figures.empty() || rates.product.contains(of)) continue;
        const Share& share = of == "fp8" ? kProductFp8 : of == "fp4" ? kProductFp4 : kProduct;
        rates.product[of] = choose(of).value_or(share_of(figures.front(), share, type + " peak"));
    }
    if (const auto memory = choose("memory")) {
        rates.memory = *memory;
    } else if (!device.bandwidth.empty()) {
        rates.memory = share_of(device.bandwidth.front(), kMemory, "bandwidth");
    }
    if (!device.link.empty()) rates.link = share_of(device.link.front(), kLink, "link");
    rates.domain = std::max(device.domain, 1);
    rates.mesh = device.topology == "mesh";
    rates.network = network;
    rates.attention = assumed(0.6, 0.3, 0.85, "share of the product rate that attention reaches");
    rates.grouped = assumed(0.45, 0.15, 0.8, "share that products of experts reach");
    rates.recurrence = assumed(0.15, 0.05, 0.4, "share that a chunked recurrence reaches");
    // Half of an all_reduce of a few bytes on 8 GPUs: 15.6 to 25.1 us (AIConfigurator,
    // NCCL 2.29.2).
    rates.message = assumed(10e-6, 15e-6, 5e-6, "latency of a message");
    rates.sublayer = assumed(8e-6, 25e-6, 3e-6, "launches and gaps of half a layer");
    rates.step = assumed(0.5e-3, 3e-3, 0.1e-3, "scheduler and sampling of a step");
    return rates;
}

std::string Rates::compute_type(const std::string& format) const {
    std::vector<std::string> order;
    if (format.starts_with("nvfp4")) order = {"fp4", "fp8"};
    for (const char* eight : {"fp8", "float8"}) {
        if (format.starts_with(eight)) order = {"fp8"};
    }
    for (const auto& type : order) {
        if (product.contains(type)) return type;
    }
    return "bf16";
}

std::vector<Rates::Named> Rates::all() const {
    std::vector<Named> list;
    for (const auto& [type, rate] : product) list.push_back({type + " products", "FLOP/s", rate});
    list.push_back({"memory", "B/s", memory});
    if (link.known()) list.push_back({"link", "B/s", link});
    list.push_back({"rail", "B/s", network.rail});
    list.push_back({"message", "s", message});
    list.push_back({"half a layer", "s", sublayer});
    list.push_back({"step", "s", step});
    list.push_back({"attention", "share", attention});
    list.push_back({"experts", "share", grouped});
    list.push_back({"recurrence", "share", recurrence});
    return list;
}

Speeds speeds_at(const Rates& rates, Edge edge) {
    Speeds speeds;
    for (const auto& [type, rate] : rates.product) speeds.product[type] = at(rate, edge);
    speeds.memory = at(rates.memory, edge);
    speeds.attention = at(rates.attention, edge);
    speeds.grouped = at(rates.grouped, edge);
    speeds.recurrence = at(rates.recurrence, edge);
    speeds.sublayer = at(rates.sublayer, edge);
    speeds.step = at(rates.step, edge);
    const double message = at(rates.message, edge);
    speeds.fabric = {.inside = {message, at(rates.link, edge)},
                     .domain = rates.domain,
                     .mesh = rates.mesh,
                     .reduces_inside = rates.network.reduces_inside,
                     .outside = {message, at(rates.network.rail, edge)},
                     .layers = rates.network.layers,
                     .switch_s = 0.5e-6,
                     .reduces_outside = rates.network.reduces};
    return speeds;
}

}  // namespace assay::plan
