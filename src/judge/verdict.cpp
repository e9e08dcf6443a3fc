#include "judge/verdict.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/look.h"
#include "work/transfer.h"

namespace assay::judge {

namespace {

constexpr const char* kProduct = " matrix product";
constexpr const char* kMemory = "memory ";
constexpr std::array kMemoryOps{"read", "copy", "triad", "write", "scale", "add"};

std::string case_text(const record::Result& result) {
    return fmt::format("{} {}", result.conditions.protocol, result.what.text());
}

const catalog::Promises& promises_of(const Evidence& evidence, const std::string& device) {
    static const catalog::Promises kNone;
    const auto found = evidence.promises.find(device);
    return found == evidence.promises.end() ? kNone : found->second;
}

catalog::Promise find_promise(const std::map<std::string, catalog::Promise>& by_type,
                              const std::string& type) {
    const auto found = by_type.find(type);
    if (found != by_type.end()) return found->second;
    return {std::nullopt, "", fmt::format("no promise for {}", type)};
}

// What every quantity has.
Delivered start(const Evidence& evidence, const record::Result& best, const char* metric) {
    Delivered delivered;
    delivered.device = best.device;
    delivered.value = *measured(best, metric);
    delivered.unit = best.metric(metric)->unit;
    delivered.case_text = case_text(best);
    delivered.protocol = best.conditions.protocol;
    delivered.published =
        find_published(evidence.published, promises_of(evidence, best.device).model, best);
    std::erase_if(delivered.published,
                  [&](const auto& published) { return published.unit != delivered.unit; });
    return delivered;
}

// A product or an attention: both are promised what the matrix unit does.
Delivered product(const Evidence& evidence, const record::Result& best, std::string quantity) {
    const auto& type = best.what.at("dtype");
    const auto& promises = promises_of(evidence, best.device);
    const auto promised =
        find_promise(promises.datasheet.empty() ? promises.peak : promises.datasheet, type);
    const auto per_cycle = find_promise(promises.flop_per_cycle, type);
    const auto clock = best.conditions.clock_mhz;

    auto delivered = start(evidence, best, "throughput");
    delivered.quantity = std::move(quantity);
    if (promised.value) delivered.promised = *promised.value / 1e12;
    delivered.promise_basis = promised.basis;
    if (!per_cycle.value) {
        delivered.clock_basis = per_cycle.basis;
    } else if (!clock) {
        delivered.clock_basis = "the clock can't be read: " + best.conditions.clock_source;
    } else {
        delivered.clock_allows = *per_cycle.value * *clock * 1e6 / 1e12;
        delivered.clock_basis =
            fmt::format("{:.0f} FLOP/cycle x {} MHz seen", *per_cycle.value, format_number(*clock));
    }
    return delivered;
}

Delivered memory(const Evidence& evidence, const record::Result& best) {
    const auto& promises = promises_of(evidence, best.device);
    const auto& promise = promises.bandwidth;
    auto delivered = start(evidence, best, "bandwidth");
    delivered.quantity = kMemory + best.what.at("op");
    if (promise.value) delivered.promised = *promise.value / 1e9;
    delivered.promise_basis = promise.basis;
    if (promises.datasheet.empty()) {
        delivered.clock_basis = "memory has a clock of its own";
    } else {
        if (promises.bandwidth_peak.value) {
            delivered.clock_allows = *promises.bandwidth_peak.value / 1e9;
        }
        delivered.clock_basis = promises.bandwidth_peak.basis;
    }
    return delivered;
}

// Between host and device, or within it by the runtime's copy.
Delivered transfer(const Evidence& evidence, const record::Result& best) {
    auto delivered = start(evidence, best, "bandwidth");
    delivered.quantity = "transfer " + best.what.at("op");
    delivered.promise_basis = "no datasheet in the catalogue has the link's bandwidth";
    delivered.clock_basis = "a link has a clock of its own";
    if (best.what.at("op") == work::name(work::Transfer::device_to_device)) {
        const auto& promise = promises_of(evidence, best.device).bandwidth;
        if (promise.value) delivered.promised = *promise.value / 1e9;
        delivered.promise_basis = promise.basis;
        delivered.clock_basis = "memory has a clock of its own";
    }
    return delivered;
}

// The best result of each protocol, in the order in which protocols come.
class BestByProtocol {
  public:
    explicit BestByProtocol(const char* metric) : metric_(metric) {}

    void consider(const record::Result& result) {
        const auto value = measured(result, metric_);
        if (!value) return;
        const auto same = std::ranges::find_if(best_, [&](const auto* other) {
            return other->conditions.protocol == result.conditions.protocol;
        });
        if (same == best_.end()) {
            best_.push_back(&result);
        } else if (*value > *measured(**same, metric_)) {
            *same = &result;
        }
    }
    const std::vector<const record::Result*>& best() const { return best_; }

  private:
    const char* metric_;
    std::vector<const record::Result*> best_;
};

// Zeros, ones and small integers switch fewer transistors: a speed that no real work has.
bool has_random_inputs(const record::Case& what) {
    return !what.has("inputs") || what.at("inputs") == "normal" || what.at("inputs") == "uniform";
}

std::string quantity_of(const record::Result& result) {
    const auto& what = result.what;
    if (result.probe == "gemm") return what.at("dtype") + kProduct;
    return fmt::format("{} attention {}", what.at("dtype"), what.at("pass"));
}

void deliver(const Evidence& evidence, const std::string& device, Verdict& verdict) {
    for (const auto* probe : {"gemm", "attention"}) {
        // By quantity, in the run's order.
        std::vector<std::pair<std::string, BestByProtocol>> rates;
        for (const auto& result : evidence.run.results) {
            if (result.probe != probe || result.device != device) continue;
            if (!measured(result, "throughput") || !has_random_inputs(result.what)) continue;
            const auto quantity = quantity_of(result);
            auto found = std::ranges::find(rates, quantity, &decltype(rates)::value_type::first);
            if (found == rates.end()) {
                rates.emplace_back(quantity, BestByProtocol("throughput"));
                found = std::prev(rates.end());
            }
            found->second.consider(result);
        }
        for (const auto& [quantity, best] : rates) {
            for (const auto* result : best.best()) {
                verdict.delivered.push_back(product(evidence, *result, quantity));
            }
        }
    }
    const auto in_memory = main_memory(evidence, device);
    for (const auto* op : kMemoryOps) {
        BestByProtocol best("bandwidth");
        for (const auto* result : in_memory) {
            if (result->what.at("op") == op) best.consider(*result);
        }
        for (const auto* result : best.best()) {
            verdict.delivered.push_back(memory(evidence, *result));
        }
    }
    for (const auto transfer_op : work::all_transfers()) {
        const auto op = work::name(transfer_op);
        BestByProtocol best("bandwidth");
        for (const auto& result : evidence.run.results) {
            if (result.probe != "memory" || result.device != device) continue;
            if (result.what.at("op") == op) best.consider(result);
        }
        for (const auto* result : best.best()) {
            verdict.delivered.push_back(transfer(evidence, *result));
        }
    }
}

bool is_product(const Delivered& delivered) {
    return delivered.quantity.ends_with(kProduct);
}

bool is_memory(const Delivered& delivered) {
    return delivered.quantity.starts_with(kMemory);
}

std::string share(const Delivered& delivered, std::optional<double> of, const char* what) {
    return of ? fmt::format("{:.0f} % of {}", 100 * delivered.value / *of, what) : "";
}

std::string of_what(const Delivered& delivered) {
    std::string part = share(delivered, delivered.clock_allows, "what its clock allows");
    if (part.empty()) part = share(delivered, delivered.promised, "its promise");
    return part.empty() ? "promise unknown" : part;
}

// "3.20 TFLOP/s fp32 (87 % of what its clock allows)"; with several protocols each has its value:
// "800 TFLOP/s bf16 boost (90 % of its promise), 684 sustained (69 % of its promise)".
std::string sentence(const std::vector<const Delivered*>& one) {
    // "fp32" of "fp32 matrix product", "read" of "memory read"
    const auto words = split(one[0]->quantity, ' ');
    std::string text;
    for (const auto* delivered : one) {
        text += text.empty()
                    ? fmt::format("{} {} {}", format_number(delivered->value, 3), delivered->unit,
                                  is_product(*delivered) ? words.front() : words.back())
                    : fmt::format(", {}", format_number(delivered->value, 3));
        if (one.size() > 1) text += " " + delivered->protocol;
        text += fmt::format(" ({})", of_what(*delivered));
    }
    return text;
}

// fp32, which every CPU has, or what an accelerator is bought for, before other types.
int importance(const std::string& quantity, bool accelerator) {
    static const std::vector<std::string> kCpu{"fp32 "};
    static const std::vector<std::string> kAccelerator{"bf16 ", "fp16 ", "fp8_"};
    const auto& order = accelerator ? kAccelerator : kCpu;
    const auto found =
        std::ranges::find_if(order, [&](const auto& type) { return quantity.starts_with(type); });
    return static_cast<int>(order.end() - found);
}

std::string headline_of(const record::DeviceFacts& device, const std::vector<Delivered>& all) {
    std::vector<const Delivered*> products;
    std::vector<const Delivered*> memory;  // the first kernel of kMemoryOps
    for (const auto& delivered : all) {
        if (delivered.device != device.id) continue;
        if (!is_product(delivered) && !is_memory(delivered)) continue;
        auto& group = is_product(delivered) ? products : memory;
        if (!group.empty() && group[0]->quantity != delivered.quantity) {
            const bool accelerator = device.kind != "cpu";
            if (!is_product(delivered) || importance(delivered.quantity, accelerator) <=
                                              importance(group[0]->quantity, accelerator)) {
                continue;
            }
            group.clear();
        }
        group.push_back(&delivered);
    }
    if (products.empty() && memory.empty()) return device.id + ": nothing was delivered";
    std::vector<std::string> parts;
    if (!products.empty()) parts.push_back(sentence(products));
    if (!memory.empty()) parts.push_back(sentence(memory));
    return fmt::format("{} delivers {}", device.id, join(parts, ", "));
}

}  // namespace

Verdict conclude(const Evidence& evidence, const std::vector<record::Finding>& findings) {
    Verdict verdict;
    verdict.published_problem = evidence.published_problem;
    std::vector<std::string> lines;
    for (const auto& device : evidence.run.provenance.devices) {
        deliver(evidence, device.id, verdict);
        lines.push_back(headline_of(device, verdict.delivered));
    }
    if (lines.empty()) lines.emplace_back("no device was opened");
    const auto count = [&](record::Severity severity) {
        return static_cast<std::size_t>(
            std::ranges::count(findings, severity, &record::Finding::severity));
    };
    lines.push_back(fmt::format("{}, {}", counted(count(record::Severity::error), "error"),
                                counted(count(record::Severity::warning), "warning")));
    verdict.headline = join(lines, "; ");
    return verdict;
}

}  // namespace assay::judge
