#include "support/run_program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"

namespace assay {
namespace {

constexpr double kSlice_s = 0.005;

class Pipe {
  public:
    Pipe() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int read_end() const { return ends_[0]; }
    int write_end() const { return ends_[1]; }
    void close_read() { close_end(0); }
    void close_write() { close_end(1); }

  private:
    void close_end(std::size_t i) {
        if (ends_[i] >= 0) ::close(std::exchange(ends_[i], -1));
    }
    std::array<int, 2> ends_{-1, -1};
};

// What posix_spawn does in the child before the program starts.
class Actions {
  public:
    Actions() {
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawnattr_init(&attributes);
        // A test runner may ignore SIGPIPE or block signals; a shell's child has neither.
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~Actions() {
        ::posix_spawn_file_actions_destroy(&files);
        ::posix_spawnattr_destroy(&attributes);
    }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (auto& word : words) result.push_back(word.data());
    result.push_back(nullptr);
    return result;
}

pid_t start(const Program& program, const Pipe& in, const Pipe& out, const Pipe& err) {
    Actions actions;
    ::posix_spawn_file_actions_adddup2(&actions.files, in.read_end(), STDIN_FILENO);
    if (program.output.empty()) {
        ::posix_spawn_file_actions_adddup2(&actions.files, out.write_end(), STDOUT_FILENO);
    } else {
        ::posix_spawn_file_actions_addopen(&actions.files, STDOUT_FILENO, program.output.c_str(),
                                           O_WRONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(&actions.files, err.write_end(), STDERR_FILENO);
    // A test runner hands down more than a shell does.
    ::posix_spawn_file_actions_addclosefrom_np(&actions.files, STDERR_FILENO + 1);

    auto argv = program.argv;
    std::vector<std::string> environment;
    for (const auto& [name, value] : program.environment) environment.push_back(name + "=" + value);
    pid_t pid = 0;
    const int reason = ::posix_spawn(&pid, argv.at(0).c_str(), &actions.files, &actions.attributes,
                                     pointers(argv).data(), pointers(environment).data());
    if (reason != 0) {
        throw std::runtime_error(argv[0] + ": " + std::generic_category().message(reason));
    }
    return pid;
}

// Sends the kicks of a program, one after the other.
class Kicker {
  public:
    Kicker(pid_t pid, const std::vector<Kick>& kicks) : pid_(pid), kicks_(kicks) {}

    void look_at(const std::string& err, double now) {
        while (next_ < kicks_.size()) {
            const auto& kick = kicks_[next_];
            if (due_ < 0 && err.find(kick.after) != err.npos) due_ = now + kick.delay_s;
            if (due_ < 0 || now < due_) return;
            ::kill(pid_, kick.signal);
            ++next_;
            due_ = -1;
        }
    }

  private:
    pid_t pid_;
    const std::vector<Kick>& kicks_;
    std::size_t next_ = 0;
    double due_ = -1;
};

// False at the end of the pipe.
bool drain(int descriptor, std::string& text) {
    std::array<char, 65536> buffer;
    const auto got = ::read(descriptor, buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

Ended run_program(const Program& program) {
    Pipe in, out, err;
    const double started = monotonic_seconds();
    const pid_t pid = start(program, in, out, err);
    in.close_read();
    out.close_write();
    err.close_write();
    if (program.hang_up) out.close_read();
    // Less than a pipe holds, so that this can't block.
    [[maybe_unused]] const auto sent =
        ::write(in.write_end(), program.input.data(), program.input.size());
    in.close_write();

    Ended ended;
    Kicker kicker(pid, program.kicks);
    int status = 0;
    bool gone = false;
    while (!gone || out.read_end() >= 0 || err.read_end() >= 0) {
        const double now = monotonic_seconds();
        if (!gone) {
            kicker.look_at(ended.err, now - started);
            if (now - started > program.limit_s && !ended.out_of_time) {
                ended.out_of_time = true;
                ::kill(pid, SIGKILL);
            }
            gone = ::waitpid(pid, &status, WNOHANG) == pid;
            if (gone) ended.seconds = monotonic_seconds() - started;
        } else if (now - started > ended.seconds + 5) {
            break;  // a process that outlived the program holds the pipes: not ours to wait for
        }
        std::array<pollfd, 2> watched{{{out.read_end(), POLLIN, 0}, {err.read_end(), POLLIN, 0}}};
        ::poll(watched.data(), watched.size(), static_cast<int>(kSlice_s * 1000));
        if (watched[0].revents != 0 && !drain(out.read_end(), ended.out)) out.close_read();
        if (watched[1].revents != 0 && !drain(err.read_end(), ended.err)) err.close_read();
    }
    if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
    return ended;
}

std::vector<int> processes_with(const std::string& name, const std::string& value) {
    const std::string entry = '\0' + name + '=' + value + '\0';
    std::vector<int> found;
    for (const auto& process : std::filesystem::directory_iterator("/proc")) {
        const auto pid = process.path().filename().string();
        if (pid.find_first_not_of("0123456789") != pid.npos) continue;
        // A zombie's environment reads as empty.
        std::ifstream file(process.path() / "environ");
        std::ostringstream environment;
        environment << '\0' << file.rdbuf();
        if (environment.str().find(entry) != std::string::npos) found.push_back(std::stoi(pid));
    }
    return found;
}

}  // namespace assay
