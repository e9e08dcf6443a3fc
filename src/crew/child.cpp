#include "crew/child.h"

#include <sys/wait.h>

#include "base/interrupt.h"
#include "base/time.h"
#include "crew/ending.h"
#include "crew/process.h"

namespace assay::crew {

namespace {

// How long a wait goes on before it looks at the interrupt flag and the limits again.
constexpr double kSlice_s = 0.1;

constexpr std::size_t kLongestLine = std::size_t{256} << 20;
constexpr std::size_t kExcerpt = 80;

std::string text_of(const Json& message, const char* key, const char* otherwise) {
    const auto found = message.find(key);
    return found != message.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

[[noreturn]] void throw_reported(const Json& message) {
    const std::string kind = text_of(message, "kind", "error");
    const std::string what =
        text_of(message, "what", "the child reported an error, not saying which");
    const std::string hint = text_of(message, "hint", "");
    if (kind == "usage") throw UsageError(what, hint);
    if (kind == "unsupported") throw Unsupported(what, hint);
    if (kind == "device_lost") throw DeviceLost(what, hint);
    throw Error(what, hint);
}

}  // namespace

Child::Child(std::string name, Command command)
    : name_(std::move(name)), command_(std::move(command)) {}
Child::Child(Child&&) noexcept = default;
Child& Child::operator=(Child&&) noexcept = default;
Child::~Child() {
    stop();
}

bool Child::alive() const {
    return process_ && !process_->ended();
}

pid_t Child::pid() const {
    return process_ ? process_->pid() : 0;
}

void Child::stop(double grace_s) {
    if (process_) process_->dismiss(grace_s);
    end(grace_s);
}

Json Child::request(const Json& message, const Limits& limits,
                    const std::function<void(const Json&)>& on_news) {
    Json reply;
    try {
        make_ready(limits);
        reply = converse(message, limits, on_news);
    } catch (...) {
        end(limits.grace_s);
        throw;
    }
    if (reply["type"] == "done") return reply["value"];
    if (reply["kind"] == "device_lost") stop(limits.grace_s);
    throw_reported(reply);
}

void Child::make_ready(const Limits& limits) {
    if (!alive()) {
        process_ = nullptr;
        process_ = std::make_unique<Process>(command_);
        return;
    }
    // Whatever came since the last answer would be taken for an answer to this request.
    std::string_view nothing;
    if (process_->exchange(nothing, 0) || process_->pending() > 0)
        fail({.kind = EndKind::BadReply, .detail = "it wrote without being asked"}, limits.grace_s);
    process_->forget_errors();
}

Json Child::converse(const Json& message, const Limits& limits,
                     const std::function<void(const Json&)>& on_news) {
    const std::string line = dump_line(message) + '\n';
    std::string_view unsent = line;
    const double started = monotonic_seconds();
    double heard = started;
    bool silent = false;
    for (;;) {
        throw_if_interrupted();
        // Both before the wait, so that what came meanwhile still counts: the last words of a child
        // that has ended, and heartbeats sent while this process itself was stopped.
        const double now = monotonic_seconds();
        const bool ended = silent && process_->ended();
        silent = !process_->exchange(unsent, kSlice_s);
        if (!silent) heard = monotonic_seconds();

        while (const auto text = process_->next_line()) {
            Json reply = parse_reply(*text, limits);
            const Json& type = reply["type"];
            if (type == "done" || type == "error") return reply;
            if (type != "heartbeat" && on_news) on_news(reply);
        }

        if (process_->pending() > kLongestLine)
            fail({.kind = EndKind::BadReply, .detail = "a line is longer than 256 MiB"},
                 limits.grace_s);
        if (process_->replies_ended() || (ended && silent)) fail_of_itself(limits);
        if (command_.own_protocol && now - heard > limits.heartbeat_s)
            fail({.kind = EndKind::Hung, .seconds = limits.heartbeat_s}, limits.grace_s);
        if (now - started > limits.request_s)
            fail({.kind = EndKind::TimedOut, .seconds = limits.request_s}, limits.grace_s);
    }
}

Json Child::parse_reply(const std::string& line, const Limits& limits) {
    try {
        Json reply = parse_json(line, "reply");
        if (reply.is_object() && reply.contains("type") && reply["type"].is_string()) return reply;
    } catch (const Error&) {
        // Told below, with the line itself.
    }
    fail({.kind = EndKind::BadReply,
          .detail = "it sent " + dump_line(Json(line.substr(0, kExcerpt)))},
         limits.grace_s);
}

void Child::end(double grace_s) {
    if (process_) process_->terminate(grace_s);
    process_ = nullptr;
}

void Child::fail(Ending ending, double grace_s) {
    const std::optional<int> status = process_->terminate(grace_s);
    if (ending.kind == EndKind::Exited && status) {
        const bool crashed = WIFSIGNALED(*status);
        if (crashed) ending.kind = EndKind::Crashed;
        ending.code = crashed ? WTERMSIG(*status) : WEXITSTATUS(*status);
    }
    ending.last_words = process_->last_words();
    process_ = nullptr;
    throw ChildFailed(name_, std::move(ending));
}

void Child::fail_of_itself(const Limits& limits) {
    if (process_->dismiss(limits.grace_s)) fail({.kind = EndKind::Exited}, limits.grace_s);
    fail({.kind = EndKind::BadReply, .detail = "it closed its reply pipe and went on"},
         limits.grace_s);
}

}  // namespace assay::crew
