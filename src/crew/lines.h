// Bytes in, whole lines out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::crew {

class Lines {
  public:
    void append(std::string_view bytes);
    // The next whole line, without its end.
    std::optional<std::string> next();
    // Bytes that next() has not handed out yet.
    std::size_t pending() const { return buffer_.size() - taken_; }

  private:
    std::string buffer_;
    std::size_t taken_ = 0;    // handed out already
    std::size_t scanned_ = 0;  // known to hold no further line end: long lines are scanned once
};

}  // namespace assay::crew
