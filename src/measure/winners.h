// The algorithms that searches found, on disk, so that a search is paid for once. A file that is
// damaged costs a search, never an answer.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace assay::measure {

struct WinnerKey {
    std::string device;    // its name, as the vendor spells it
    std::string library;   // with its version and file: another may number its algorithms otherwise
    std::string problem;   // the case's text
    std::string protocol;  // a winner at the power limit isn't one in a burst

    bool operator==(const WinnerKey&) const = default;
};

class Winners {
  public:
    explicit Winners(std::filesystem::path file) : file_(std::move(file)) {}

    // In the user's cache folder. Throws Error where the home folder is unknown.
    static std::filesystem::path default_file();

    // Nothing where the file is missing or damaged.
    std::optional<std::string> find(const WinnerKey& key);
    // Adds or replaces one winner, and loses none that another process keeps at the same time.
    // Throws Error when the file can't be written.
    void keep(const WinnerKey& key, const std::string& algorithm);

    // "" or why the file's content was left out of account.
    const std::string& note() const { return note_; }

  private:
    std::filesystem::path file_;
    std::string note_;
};

}  // namespace assay::measure
