// A TOML file of facts on its way to rows: knows where each value stands, so that what is wrong
// with it is said as "file:line:column: reason".
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/toml.h"

namespace assay::catalog {

// Places are JSON pointers: "/processor/3/name". Every function throws UsageError by fail().
class FactFile {
  public:
    // Throws UsageError for malformed TOML or an unreadable file.
    FactFile(const std::filesystem::path& path, nlohmann::json& json);

    [[noreturn]] void fail(const std::string& at, const std::string& reason) const;

    void expect_keys(const std::string& at, const nlohmann::json& table,
                     const std::vector<std::string>& known) const;
    const nlohmann::json& table(const nlohmann::json& parent, const std::string& at,
                                const std::string& key) const;
    const nlohmann::json& array(const nlohmann::json& parent, const std::string& at,
                                const std::string& key) const;

    std::string text(const nlohmann::json& table, const std::string& at,
                     const std::string& key) const;
    std::string text_or(const nlohmann::json& table, const std::string& at, const std::string& key,
                        const std::string& otherwise) const;
    // "word", one of `known`.
    std::string word(const nlohmann::json& table, const std::string& at, const std::string& key,
                     const std::vector<std::string>& known) const;
    std::vector<std::string> texts(const nlohmann::json& table, const std::string& at,
                                   const std::string& key) const;
    bool flag(const nlohmann::json& table, const std::string& at, const std::string& key) const;

    // 0 to 1,000,000.
    int integer(const nlohmann::json& value, const std::string& at) const;
    std::optional<int> optional_integer(const nlohmann::json& table, const std::string& at,
                                        const std::string& key) const;
    std::vector<int> integers(const nlohmann::json& table, const std::string& at,
                              const std::string& key) const;
    // Above 0.
    double number(const nlohmann::json& value, const std::string& at) const;
    double number(const nlohmann::json& table, const std::string& at, const std::string& key) const;

  private:
    TomlDocument document_;
};

}  // namespace assay::catalog
