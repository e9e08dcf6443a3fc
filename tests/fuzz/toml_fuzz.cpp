// Any bytes as a TOML file: either a document whose places point at its values, or one UsageError
// that names the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/toml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    assay::TomlDocument document;
    try {
        const auto json = assay::parse_toml(text, "input.toml", document);
        for (const auto& [pointer, place] : document.places) {
            if (!json.contains(nlohmann::json::json_pointer(pointer))) std::abort();
        }
    } catch (const assay::UsageError& e) {
        if (!std::string_view(e.what()).starts_with("input.toml:") || e.hint().empty())
            std::abort();
    }
    return 0;
}
