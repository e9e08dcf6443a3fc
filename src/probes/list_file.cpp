#include "probes/list_file.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace assay::probes {

namespace {

constexpr std::string_view kListed = "0123456789/,-";

bool is_file(std::string_view list) {
    return list.find_first_not_of(kListed) != std::string_view::npos;
}

std::string read_list(std::string_view path) {
    auto content = read_input_file(std::filesystem::path(path));
    const auto odd = content.find_first_not_of(std::string(kListed) + " \t\r\n");
    if (odd != std::string::npos) {
        throw UsageError(fmt::format("{} holds {:?}, which no list does", path,
                                     std::string_view(content).substr(odd, 1)),
                         "a list has digits, and spaces, commas, slashes or lines between them");
    }
    if (content.find_first_of("0123456789") == std::string::npos) {
        throw UsageError(fmt::format("{} lists no number", path),
                         "write numbers into it, with spaces, commas or lines between them");
    }
    std::erase(content, '\r');
    return content;
}

std::string joined_by_slashes(std::string list) {
    std::vector<std::string> words;
    std::ranges::replace_if(
        list, [](char c) { return c == ' ' || c == ',' || c == '\n' || c == '\t'; }, '/');
    for (auto& word : split(list, '/')) {
        if (!word.empty()) words.push_back(std::move(word));
    }
    return join(words, "/");
}

// A line of the file a row.
std::string rows_of(std::string list) {
    if (list.ends_with('\n')) list.pop_back();
    std::vector<std::string> rows;
    for (auto& line : split(list, '\n')) {
        std::ranges::replace_if(
            line, [](char c) { return c == ' ' || c == '\t'; }, ',');
        std::vector<std::string> blocks;
        for (auto& word : split(line, ',')) {
            if (!word.empty()) blocks.push_back(std::move(word));
        }
        rows.push_back(join(blocks, ","));
    }
    return join(rows, "/");
}

}  // namespace

std::string read_mask_lists(std::string_view mask) {
    constexpr std::string_view kDocument = "document:", kBlocks = "blocks:";
    std::vector<std::string> rules;
    for (auto& rule : split(mask, '+')) {
        if (rule.starts_with(kDocument)) {
            const auto list = rule.substr(kDocument.size());
            if (is_file(list) && !list.starts_with("even:") && !list.starts_with("skewed:")) {
                rule = std::string(kDocument) + joined_by_slashes(read_list(list));
            }
        } else if (rule.starts_with(kBlocks)) {
            const auto colon = rule.find(':', kBlocks.size());
            if (colon != std::string::npos && is_file(rule.substr(colon + 1))) {
                rule = rule.substr(0, colon + 1) + rows_of(read_list(rule.substr(colon + 1)));
            }
        }
        rules.push_back(std::move(rule));
    }
    return join(rules, "+");
}

std::string read_lengths(std::string_view given) {
    return joined_by_slashes(is_file(given) ? read_list(given) : std::string(given));
}

}  // namespace assay::probes
