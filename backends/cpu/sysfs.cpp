#include "cpu/sysfs.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"

namespace assay::cpu {

std::optional<double> leading_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return value;
}

std::optional<std::string> read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text;
    try {
        text.assign(std::istreambuf_iterator<char>(file), {});
    } catch (const std::ios_base::failure&) {
        return std::nullopt;  // drivers refuse to read some files, and the stream's buffer throws
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::optional<double> read_number(const std::filesystem::path& path) {
    const auto text = read_text(path);
    if (!text) return std::nullopt;
    return leading_number(*text);
}

std::optional<std::string> field_of(const std::string& text, const std::string& key) {
    for (const std::string& line : split(text, '\n')) {
        std::string_view rest = line;
        if (!rest.starts_with(key)) continue;
        rest = trim(rest.substr(key.size()));
        if (rest.starts_with(':')) rest = trim(rest.substr(1));
        return std::string(rest);
    }
    return std::nullopt;
}

CounterFile::CounterFile(const std::filesystem::path& path)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

CounterFile::CounterFile(CounterFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

CounterFile::~CounterFile() {
    if (file_ >= 0) ::close(file_);
}

std::optional<double> CounterFile::read() const {
    char text[64];
    const auto length = file_ < 0 ? -1 : ::pread(file_, text, sizeof text, 0);
    if (length <= 0) return std::nullopt;
    return leading_number({text, static_cast<std::size_t>(length)});
}

}  // namespace assay::cpu
