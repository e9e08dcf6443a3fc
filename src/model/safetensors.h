// What a checkpoint really holds, from the headers of its safetensors files or from its index: to
// be compared with what the config.json says. Format: 8 bytes, the header's length; the header,
// JSON of name -> {dtype, shape, data_offsets}; then the tensors, without gaps
// (huggingface/safetensors README).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::model {

struct StoredTensor {
    std::string name;
    std::string dtype;                 // "BF16", as the format spells it
    std::vector<std::int64_t> shape;   // of packed types: as packed
    std::uint64_t begin = 0, end = 0;  // bytes, from the header's end
    std::int64_t elements() const;
};

// The format's own limit.
inline constexpr std::uint64_t kLongestHeader = 100'000'000;

// `header`: the JSON alone; `data_bytes`: what follows it. Throws UsageError, naming the tensor,
// for a dtype that isn't known, a shape and offsets that disagree, offsets out of the data,
// overlaps and gaps.
std::vector<StoredTensor> parse_safetensors_header(std::string_view header,
                                                   std::uint64_t data_bytes,
                                                   std::string_view source);
// Reads the header alone. Throws UsageError for a length over the limit or the file's.
std::vector<StoredTensor> read_safetensors(const std::filesystem::path& file);

}  // namespace assay::model
