#include "model/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "model/input_file.h"

namespace assay::model {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 60;

struct Dtype {
    std::string_view name;
    std::uint64_t bits;
};
constexpr std::array kDtypes{
    Dtype{"F64", 64},        Dtype{"F32", 32},    Dtype{"F16", 16},    Dtype{"BF16", 16},
    Dtype{"F8_E4M3", 8},     Dtype{"F8_E5M2", 8}, Dtype{"F8_E8M0", 8}, Dtype{"F8_E4M3FNUZ", 8},
    Dtype{"F8_E5M2FNUZ", 8}, Dtype{"F6_E2M3", 6}, Dtype{"F6_E3M2", 6}, Dtype{"F4", 4},
    Dtype{"I64", 64},        Dtype{"U64", 64},    Dtype{"I32", 32},    Dtype{"U32", 32},
    Dtype{"I16", 16},        Dtype{"U16", 16},    Dtype{"I8", 8},      Dtype{"U8", 8},
    Dtype{"BOOL", 8},        Dtype{"C64", 64}};

[[noreturn]] void fail(std::string_view source, const std::string& reason) {
    throw UsageError(fmt::format("{}: {}", source, reason),
                     "the file is no whole safetensors file: take it again from its repository");
}

std::uint64_t unsigned_of(const Json& value) {
    return value.is_number_unsigned() ? value.get<std::uint64_t>() : UINT64_MAX;
}

std::uint64_t bits_of(std::string_view source, const StoredTensor& tensor) {
    const auto found = std::ranges::find(kDtypes, tensor.dtype, &Dtype::name);
    if (found == kDtypes.end()) {
        fail(source, fmt::format("tensor \"{:.80}\" has the unknown dtype \"{:.40}\"", tensor.name,
                                 tensor.dtype));
    }
    return found->bits;
}

void read_shape(const Json& shape, std::string_view source, StoredTensor& tensor) {
    std::uint64_t elements = 1;
    for (const auto& size : shape) {
        const auto value = unsigned_of(size);
        if (value > kMostElements || (value > 0 && elements > kMostElements / value)) {
            fail(source, fmt::format("tensor \"{:.80}\" has the shape {:.80}", tensor.name,
                                     dump_line(shape)));
        }
        elements *= value;
        tensor.shape.push_back(static_cast<std::int64_t>(value));
    }
}

StoredTensor read_tensor(const std::string& name, const Json& entry, std::uint64_t data_bytes,
                         std::string_view source) {
    const auto has = [&](const char* key, Json::value_t type) {
        return entry.is_object() && entry.contains(key) && entry[key].type() == type;
    };
    if (!has("dtype", Json::value_t::string) || !has("shape", Json::value_t::array) ||
        !has("data_offsets", Json::value_t::array) || entry["data_offsets"].size() != 2) {
        fail(source, fmt::format("tensor \"{:.80}\" lacks dtype, shape or data_offsets", name));
    }
    StoredTensor tensor{.name = name,
                        .dtype = entry["dtype"].get<std::string>(),
                        .shape = {},
                        .begin = unsigned_of(entry["data_offsets"][0]),
                        .end = unsigned_of(entry["data_offsets"][1])};
    read_shape(entry["shape"], source, tensor);
    if (tensor.begin > tensor.end || tensor.end > data_bytes) {
        fail(source, fmt::format("tensor \"{:.80}\" is at bytes {} of {}", name,
                                 dump_line(entry["data_offsets"]), data_bytes));
    }
    const auto bits = bits_of(source, tensor);
    const auto elements = static_cast<std::uint64_t>(tensor.elements());
    const auto bytes = elements / 8 * bits + (elements % 8 * bits + 7) / 8;
    if (tensor.end - tensor.begin != bytes) {
        fail(source, fmt::format("tensor \"{:.80}\", {} elements of {}, takes {} bytes, not {}",
                                 name, elements, tensor.dtype, bytes, tensor.end - tensor.begin));
    }
    return tensor;
}

void expect_adjacent(std::vector<StoredTensor> tensors, std::uint64_t data_bytes,
                     std::string_view source) {
    std::ranges::sort(tensors, {}, [](const auto& t) { return std::pair(t.begin, t.end); });
    std::uint64_t end = 0;
    for (const auto& tensor : tensors) {
        if (tensor.begin < end) {
            fail(source, fmt::format("tensor \"{:.80}\" overlaps the one before it", tensor.name));
        }
        if (tensor.begin > end) {
            fail(source, fmt::format("{} bytes before tensor \"{:.80}\" belong to none",
                                     tensor.begin - end, tensor.name));
        }
        end = tensor.end;
    }
    if (end != data_bytes) {
        fail(source, fmt::format("the last {} bytes belong to no tensor", data_bytes - end));
    }
}

Json parse(std::string_view text, std::string_view source) {
    try {
        auto json = parse_json(text, source);
        if (!json.is_object()) fail(source, "the header is no JSON object");
        return json;
    } catch (const UsageError&) {
        throw;
    } catch (const Error& e) {
        throw UsageError(e.what(), e.hint());
    }
}

}  // namespace

std::int64_t StoredTensor::elements() const {
    std::int64_t count = 1;
    for (const auto size : shape) count *= size;
    return count;
}

std::vector<StoredTensor> parse_safetensors_header(std::string_view header,
                                                   std::uint64_t data_bytes,
                                                   std::string_view source) {
    const auto json = parse(header, source);
    std::vector<StoredTensor> tensors;
    for (const auto& [name, entry] : json.items()) {
        if (name == "__metadata__") continue;
        tensors.push_back(read_tensor(name, entry, data_bytes, source));
    }
    expect_adjacent(tensors, data_bytes, source);
    return tensors;
}

std::vector<StoredTensor> read_safetensors(const fs::path& file) {
    constexpr std::uint64_t kLength = 8;
    expect_regular_file(file);
    std::ifstream in(file, std::ios::binary);
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!in || error) fail(file.string(), "can't be read");
    std::array<unsigned char, kLength> bytes{};
    if (size < kLength || !in.read(reinterpret_cast<char*>(bytes.data()), kLength)) {
        fail(file.string(), fmt::format("{} bytes are too few for a header", size));
    }
    std::uint64_t length = 0;
    for (std::size_t i = kLength; i-- > 0;) length = length << 8 | bytes[i];
    if (length > kLongestHeader || length > size - kLength) {
        fail(file.string(),
             fmt::format("the header claims {} bytes, of a file of {}{}", length, size,
                         length > kLongestHeader ? " and at most 100,000,000" : ""));
    }
    std::string header(length, '\0');
    if (!in.read(header.data(), static_cast<std::streamsize>(length))) {
        fail(file.string(), "ends within its header");
    }
    return parse_safetensors_header(header, size - kLength - length, file.string());
}

}  // namespace assay::model
