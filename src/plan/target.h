// The devices that a plan is asked for: "8xmi355x,16xb200,b300".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/accelerator.h"

namespace assay::plan {

struct Target {
    std::string text;                   // as asked
    std::optional<std::int64_t> count;  // none: the smallest that fits
    catalog::Accelerator device;
    std::vector<std::string> alike;  // other rows that the word names too: "NVIDIA H100 PCIe"

    // As asked but for the count, as device_word.
    std::string word() const;
    // The first figure of its memory, which counts; the catalog keeps the others.
    const catalog::Figure& capacity() const { return device.memory.front(); }
    // Devices of one scale-up domain. A bridge or nothing joins no more than a few cards, and such
    // servers have eight slots: that is an assumption.
    std::int64_t per_node() const;
    bool per_node_assumed() const;
    std::int64_t nodes(std::int64_t devices) const;
};

// A device's name in small letters, joined by "-".
std::string device_word(std::string_view text);

// A name is a row's, whole or some of its words joined by "-" ("b200", "h100-pcie", "mi355x"), the
// model's among them, whatever the case; where several rows have them the first of the file counts.
// A count is 1 to 131,072. Throws UsageError for an empty list, a count out of range, words that
// name no model ("nvidia", "80gb"), a device that the catalog lacks or that has no memory there.
std::vector<Target> parse_targets(std::string_view text,
                                  const std::vector<catalog::Accelerator>& accelerators);

}  // namespace assay::plan
