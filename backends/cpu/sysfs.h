// Small files of /proc and /sys, under a root that tests replace.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay::cpu {

// The number that `text` starts with, whatever the locale.
std::optional<double> leading_number(std::string_view text);

// The whole file without its trailing newline; empty when it can't be read.
std::optional<std::string> read_text(const std::filesystem::path& path);

// The file's first word as a number; empty when it can't be read or isn't one ("max").
std::optional<double> read_number(const std::filesystem::path& path);

// The first line of `text` that starts with `key`, after the key, its separator and blanks.
std::optional<std::string> field_of(const std::string& text, const std::string& key);

// A file kept open and read again from its start: a counter read often, at the cost of one call.
class CounterFile {
  public:
    explicit CounterFile(const std::filesystem::path& path);
    ~CounterFile();
    CounterFile(CounterFile&& other) noexcept;
    CounterFile(const CounterFile&) = delete;
    CounterFile& operator=(const CounterFile&) = delete;
    CounterFile& operator=(CounterFile&&) = delete;

    std::optional<double> read() const;

  private:
    int file_;
};

}  // namespace assay::cpu
