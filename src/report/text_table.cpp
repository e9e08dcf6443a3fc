#include "report/text_table.h"

#include <algorithm>

namespace assay::report {

std::size_t display_width(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string TextTable::text(std::size_t indent) const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(row[i]));
        }
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(columns_[i].title));
    }

    std::string out;
    const auto line = [&](const auto& cell) {
        std::string text(indent, ' ');
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (widths[i] == 0) continue;
            const std::string& word = cell(i);
            const std::string padding(widths[i] - display_width(word), ' ');
            text += columns_[i].align == Align::right ? padding + word : word + padding;
            text += "  ";
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    };
    line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
    for (const auto& row : rows_) line([&](std::size_t i) -> const std::string& { return row[i]; });
    return out;
}

}  // namespace assay::report
