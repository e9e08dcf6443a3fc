#include "crew/serve.h"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "crew/crash_note.h"
#include "crew/descriptor.h"
#include "crew/lines.h"
#include "crew/spawn.h"

namespace assay::crew {

namespace {

constexpr int kHeartbeat_ms = 500;

// The way to the parent: whole lines, from any thread.
class Replies {
  public:
    explicit Replies(Descriptor pipe) : pipe_(std::move(pipe)) {}

    void begin() { set_answering(true); }
    void send(const Json& message) { write_line(message, false); }
    // The last line of an answer: no heartbeat may follow it.
    void finish(const Json& message) { write_line(message, true); }
    void beat() {
        const std::lock_guard lock(mutex_);
        if (answering_) write("{\"type\":\"heartbeat\"}\n");
    }

  private:
    void set_answering(bool value) {
        const std::lock_guard lock(mutex_);
        answering_ = value;
    }

    void write_line(const Json& message, bool last) {
        const std::string line = dump_line(message) + '\n';
        const std::lock_guard lock(mutex_);
        write(line);
        if (last) answering_ = false;
    }

    void write(std::string_view rest) {
        while (!rest.empty()) {
            const ssize_t count = ::write(pipe_.number(), rest.data(), rest.size());
            if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
            if (count < 0 && errno != EINTR) std::_Exit(kExitFailed);  // nobody listens any more
        }
    }

    Descriptor pipe_;
    std::mutex mutex_;
    bool answering_ = false;
};

// Requests as they come. The thread that waits for them sends the heartbeats too.
class Requests {
  public:
    Requests(Descriptor pipe, Replies& replies)
        : pipe_(std::move(pipe)), replies_(replies), listener_([this] { listen(); }) {}

    // Waits for the next one; none at the end of input.
    std::optional<std::string> next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
        if (waiting_.empty()) return std::nullopt;
        std::string line = std::move(waiting_.front());
        waiting_.pop_front();
        return line;
    }

  private:
    void listen() {
        Lines lines;
        while (take_in(lines)) {
            const std::lock_guard lock(mutex_);
            while (auto line = lines.next()) waiting_.push_back(std::move(*line));
            changed_.notify_one();
        }
        const std::lock_guard lock(mutex_);
        ended_ = true;
        changed_.notify_one();
    }

    // False at the end of input.
    bool take_in(Lines& lines) {
        pollfd input = {.fd = pipe_.number(), .events = POLLIN, .revents = 0};
        const int ready = ::poll(&input, 1, kHeartbeat_ms);
        if (ready == 0) replies_.beat();
        if (ready <= 0) return true;
        char buffer[4096];
        const ssize_t count = ::read(pipe_.number(), buffer, sizeof buffer);
        if (count > 0) lines.append({buffer, static_cast<std::size_t>(count)});
        return count > 0 || (count < 0 && errno == EINTR);
    }

    Descriptor pipe_;
    Replies& replies_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> waiting_;
    bool ended_ = false;
    std::jthread listener_;  // the last member: it uses the others
};

// The descriptor moves out of reach; `number` is left as another name of `instead`.
Descriptor take_away(int number, int instead) {
    Descriptor taken = duplicate(number);
    ::dup2(instead, number);
    return taken;
}

Json error_message(const char* kind, const std::string& what, const std::string& hint = {}) {
    return {{"type", "error"}, {"kind", kind}, {"what", what}, {"hint", hint}};
}

// The answer to one request, an exception included.
Json answer(const std::string& line, const Handler& handler, Replies& replies) {
    try {
        const Send send = [&replies](const Json& news) { replies.send(news); };
        return {{"type", "done"}, {"value", handler(parse_json(line, "request"), send)}};
    } catch (const UsageError& error) {
        return error_message("usage", error.what(), error.hint());
    } catch (const Unsupported& error) {
        return error_message("unsupported", error.what(), error.hint());
    } catch (const DeviceLost& error) {
        return error_message("device_lost", error.what(), error.hint());
    } catch (const Error& error) {
        return error_message("error", error.what(), error.hint());
    } catch (const std::exception& error) {
        return error_message("error", error.what());
    } catch (...) {
        return error_message("error", "an exception of no known type");
    }
}

}  // namespace

void serve(const Handler& handler) {
    if (::fcntl(kReplyDescriptor, F_GETFD) < 0)
        throw UsageError("this command is for the program's own children",
                         "run `assay --help` to see the commands");
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, SIG_DFL);
    std::signal(SIGPIPE, SIG_IGN);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // last words must not die in a buffer
    install_crash_note();

    const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    Replies replies(take_away(kReplyDescriptor, nothing.number()));
    Requests requests(take_away(STDIN_FILENO, nothing.number()), replies);
    while (const auto line = requests.next()) {
        replies.begin();
        const Json reply = answer(*line, handler, replies);
        replies.finish(reply);
        if (reply["type"] == "error" && reply["kind"] == "device_lost") {
            std::fflush(nullptr);
            std::_Exit(kExitFailed);
        }
    }
}

}  // namespace assay::crew
