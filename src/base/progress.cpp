#include "base/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"

namespace assay {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kUsualColumns = 80;

bool can_redraw(std::FILE* stream) {
    const char* term = std::getenv("TERM");
    return ::isatty(::fileno(stream)) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

std::size_t columns(std::FILE* stream) {
    winsize size{};
    const bool known = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : kUsualColumns;
}

// fmt::print would throw on a closed stream, and progress must never end the work it tells of.
void put(std::FILE* stream, const std::string& text) {
    std::fputs(text.c_str(), stream);
}

// The first `width` bytes, without half a UTF-8 character at the end.
std::string cut(const std::string& line, std::size_t width) {
    if (line.size() <= width) return line;
    while (width > 0 && (static_cast<unsigned char>(line[width]) & 0xC0) == 0x80) --width;
    return line.substr(0, width);
}

std::string bar(std::size_t done, std::size_t total) {
    const auto filled = total == 0 ? 0 : kBarWidth * std::min(done, total) / total;
    return std::string(filled, '#') + std::string(kBarWidth - filled, '.');
}

}  // namespace

Progress::Progress(bool quiet, std::FILE* stream)
    : quiet_(quiet),
      terminal_(can_redraw(stream)),
      stream_(stream),
      started_(monotonic_seconds()) {}

Progress::~Progress() {
    finish();
}

void Progress::step(std::size_t done, std::size_t total, const std::string& what) {
    if (quiet_) return;
    const auto left = seconds_left(done, total);
    std::string left_text;
    if (left < 60) {
        left_text = fmt::format(", {:.0f} s left", std::ceil(left));
    } else if (!std::isnan(left)) {
        left_text = fmt::format(", {} left", format_seconds(std::ceil(left)));
    }
    if (!terminal_) {
        put(stream_, fmt::format("[{}/{}] {}{}\n", done, total, what, left_text));
    } else {
        const auto line =
            fmt::format("[{}] {}/{}{}: {}", bar(done, total), done, total, left_text, what);
        clear_bar();
        // A line as wide as the terminal would wrap and could not be redrawn.
        put(stream_, cut(line, columns(stream_) - 1));
        drawn_ = true;
    }
    std::fflush(stream_);
}

void Progress::note(const std::string& line) {
    if (quiet_) return;
    clear_bar();
    put(stream_, line + '\n');
    std::fflush(stream_);
}

void Progress::finish() {
    clear_bar();
    std::fflush(stream_);
}

double Progress::seconds_left(std::size_t done, std::size_t total) const {
    // Steps differ in length, so that a guess from the first few would jump about.
    constexpr double kEnough = 0.2;
    const auto elapsed = monotonic_seconds() - started_;
    const bool enough =
        done > 0 && static_cast<double>(done) >= kEnough * static_cast<double>(total);
    if (!enough && budget_s_ > 0) return std::max(0.0, budget_s_ - elapsed);
    if (done == 0) return std::numeric_limits<double>::quiet_NaN();
    const auto remaining = static_cast<double>(total - std::min(done, total));
    return elapsed * remaining / static_cast<double>(done);
}

void Progress::clear_bar() {
    if (!drawn_) return;
    put(stream_, "\r\x1b[K");
    drawn_ = false;
}

}  // namespace assay
