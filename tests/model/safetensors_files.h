// Safetensors files for tests, whole or not.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace assay::model {

inline std::string length_of(std::uint64_t length) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFF);
    return bytes;
}

inline std::string file_of(const std::string& header, std::size_t data_bytes) {
    return length_of(header.size()) + header + std::string(data_bytes, '\0');
}

inline std::string entry(const std::string& name, const std::string& dtype,
                         const std::string& shape, const std::string& offsets) {
    return fmt::format(R"("{}": {{"dtype": "{}", "shape": {}, "data_offsets": {}}})", name, dtype,
                       shape, offsets);
}

// Two tensors in 16 bytes.
inline const std::string kTwo = "{" + entry("a.weight", "BF16", "[2, 3]", "[0, 12]") + ", " +
                                R"("__metadata__": {"format": "pt"}, )" +
                                entry("b.weight", "F8_E4M3", "[4]", "[12, 16]") + "}";

}  // namespace assay::model
