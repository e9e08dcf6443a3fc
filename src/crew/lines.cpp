#include "crew/lines.h"

namespace assay::crew {

void Lines::append(std::string_view bytes) {
    buffer_.erase(0, taken_);
    scanned_ -= taken_;
    taken_ = 0;
    buffer_ += bytes;
}

std::optional<std::string> Lines::next() {
    const std::size_t end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) {
        scanned_ = buffer_.size();
        return std::nullopt;
    }
    std::string line = buffer_.substr(taken_, end - taken_);
    taken_ = scanned_ = end + 1;
    return line;
}

}  // namespace assay::crew
