#include "crew/ending.h"

#include <cctype>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"

namespace assay::crew {

namespace {

std::string cause(const Ending& ending) {
    switch (ending.kind) {
        case EndKind::Crashed:
            return "died of " + signal_text(ending.code);
        case EndKind::Exited:
            return fmt::format("ended without an answer, with exit status {}", ending.code);
        case EndKind::Hung:
            return fmt::format("hung: no heartbeat for {}", format_seconds(ending.seconds));
        case EndKind::TimedOut:
            return fmt::format("gave no answer within {}", format_seconds(ending.seconds));
        case EndKind::BadReply:
            break;
    }
    return "broke the protocol: " + ending.detail;
}

std::string advice(const Ending& ending) {
    if (ending.kind == EndKind::Crashed && ending.code == SIGKILL)
        return "look for the kernel's out-of-memory killer in `dmesg`; ask for smaller sizes";
    return {};
}

std::string_view last_line(std::string_view text) {
    text = trim(text);
    return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

// Where an abort's place is noted (crew/crash_note.h), its cause stands on the line before.
std::string final_words(std::string_view text) {
    const auto last = last_line(text);
    if (!last.starts_with("aborted in ")) return std::string(last);
    text = trim(text);
    const auto cause = last_line(text.substr(0, text.size() - last.size()));
    return cause.empty() ? std::string(last) : fmt::format("{}; {}", cause, last);
}

}  // namespace

std::string signal_text(int signal) {
    const char* name = ::sigabbrev_np(signal);
    if (!name) return fmt::format("signal {}", signal);
    std::string description = ::sigdescr_np(signal);
    description[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(description[0])));
    return fmt::format("SIG{} ({})", name, description);
}

std::string Ending::text() const {
    const std::string line = final_words(last_words);
    return line.empty() ? cause(*this) : fmt::format("{}; its last words: {}", cause(*this), line);
}

ChildFailed::ChildFailed(const std::string& name, Ending ending)
    : Error(fmt::format("child \"{}\" {}", name, ending.text()), advice(ending)),
      ending_(std::move(ending)) {}

ChildFailed::~ChildFailed() = default;

}  // namespace assay::crew
