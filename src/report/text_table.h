// Columns of text, aligned.
#pragma once

#include <string>
#include <vector>

namespace assay::report {

class TextTable {
  public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align = Align::left;
    };

    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
    // As many cells as columns.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }
    // Two spaces between columns, none at the end of a line; columns empty in every row are left
    // out, title and all. `indent` spaces before each line.
    std::string text(std::size_t indent = 2) const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// Columns that a UTF-8 text takes on a terminal, each code point counted as one.
std::size_t display_width(const std::string& text);

}  // namespace assay::report
