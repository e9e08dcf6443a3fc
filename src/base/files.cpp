#include "base/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace fs = std::filesystem;

namespace assay {
namespace {

std::string hint_for(int reason) {
    switch (reason) {
        case ENOENT:
            return "check the path and that its folder exists";
        case EACCES:
        case EPERM:
        case EROFS:
            return "check the permissions, or name another path";
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return "free some space there, or name a path on another disk";
        case EISDIR:
        case ENOTDIR:
            return "name a file, not a folder";
        case EPIPE:
            return "what reads the output ended early; let it read to the end";
        default:
            return "check the path, or name another";
    }
}

[[noreturn]] void fail(std::string_view action, std::string_view name, int reason = errno) {
    throw Error(
        fmt::format("can't {} {}: {}", action, name, std::generic_category().message(reason)),
        hint_for(reason));
}

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    bool open() const { return fd_ >= 0; }
    int get() const { return fd_; }

  private:
    int fd_;
};

void write_all(int fd, std::string_view content, std::string_view name) {
    while (!content.empty()) {
        const auto written = ::write(fd, content.data(), content.size());
        if (written >= 0) {
            content.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            fail("write", name);
        }
    }
}

void write_standard_output(std::string_view content) {
    // What was printed before must come out before.
    if (std::fflush(stdout) != 0) fail("write", "standard output");
    write_all(STDOUT_FILENO, content, "standard output");
}

void write_in_place(const fs::path& path, std::string_view content) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.open()) fail("write", path.native());
    write_all(file.get(), content, path.native());
}

// A new file in the folder of `target`, gone again unless it takes the target's place.
class Temporary {
  public:
    explicit Temporary(const fs::path& target)
        : target_(target),
          path_(target.parent_path() / fmt::format(".assay-{:08x}{:08x}.tmp",
                                                   std::random_device{}(), std::random_device{}())),
          file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
        if (!file_.open()) fail("write", target_.native());
    }
    ~Temporary() {
        if (!placed_) ::unlink(path_.c_str());
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;

    void set_mode(mode_t mode) {
        if (::fchmod(file_.get(), mode) != 0) fail("write", target_.native());
    }
    void write(std::string_view content) {
        write_all(file_.get(), content, target_.native());
        if (::fsync(file_.get()) != 0) fail("write", target_.native());
    }
    void replace_target() {
        if (::rename(path_.c_str(), target_.c_str()) != 0) fail("write", target_.native());
        placed_ = true;
    }

  private:
    const fs::path& target_;
    fs::path path_;
    Descriptor file_;
    bool placed_ = false;
};

// A folder for users' files: XDG's variable if it holds an absolute path, as that specification
// asks, else `fallback` in the home folder.
fs::path user_dir(const char* variable, const char* fallback) {
    if (const char* dir = std::getenv(variable); dir != nullptr && fs::path(dir).is_absolute()) {
        return fs::path(dir) / "assay";
    }
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') {
        const auto* user = ::getpwuid(::getuid());
        home = user != nullptr ? user->pw_dir : nullptr;
    }
    if (home == nullptr || *home == '\0') {
        throw Error("the home folder is unknown", fmt::format("set HOME or {}", variable));
    }
    return fs::path(home) / fallback / "assay";
}

// What a path names, as write_file treats it.
struct Target {
    bool in_place = false;       // a device, a pipe: nothing to rename over
    std::optional<mode_t> mode;  // of the file that is replaced
    fs::path path;               // behind a link: a link stays a link
};

Target target_of(const fs::path& path) {
    struct stat existing {};
    const bool exists = ::stat(path.c_str(), &existing) == 0;
    if (!exists && errno != ENOENT) fail("write", path.native());
    if (!exists) return {false, std::nullopt, path};
    if (!S_ISREG(existing.st_mode)) return {true, std::nullopt, path};
    // Renaming would pass over a file's own write protection.
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail("write", path.native());
    return {false, existing.st_mode & 07777, fs::canonical(path)};
}

}  // namespace

std::string read_file(const fs::path& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open()) fail("read", path.native());
    std::string content;
    std::array<char, 65536> buffer;
    for (;;) {
        const auto got = ::read(file.get(), buffer.data(), buffer.size());
        if (got > 0) {
            content.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (got == 0) {
            return content;
        } else if (errno != EINTR) {
            fail("read", path.native());
        }
    }
}

std::string read_input_file(const fs::path& path) {
    try {
        return read_file(path);
    } catch (const Error& error) {
        throw UsageError(error.what(), error.hint());
    }
}

void write_file(const fs::path& path, std::string_view content) {
    if (path == "-") return write_standard_output(content);
    const auto target = target_of(path);
    if (target.in_place) return write_in_place(path, content);
    Temporary temporary(target.path);
    if (target.mode) temporary.set_mode(*target.mode);
    temporary.write(content);
    temporary.replace_target();
}

void check_writable(const fs::path& path) {
    if (path == "-") return;
    const auto target = target_of(path);
    if (target.in_place) return write_in_place(path, {});
    const Temporary temporary(target.path);
}

fs::path user_data_dir() {
    return user_dir("XDG_DATA_HOME", ".local/share");
}

fs::path user_cache_dir() {
    return user_dir("XDG_CACHE_HOME", ".cache");
}

fs::path program_path() {
    std::error_code error;
    auto path = fs::read_symlink("/proc/self/exe", error);
    if (error) fail("read", "/proc/self/exe", error.value());
    return path;
}

fs::path data_dir() {
    constexpr auto kHint = "set ASSAY_DATA_DIR to the folder data/ of assay's sources";
    std::error_code ignored;
    if (const char* dir = std::getenv("ASSAY_DATA_DIR"); dir != nullptr && *dir != '\0') {
        if (fs::is_directory(dir, ignored)) return dir;
        throw Error(fmt::format("ASSAY_DATA_DIR is {}, which is no folder", dir), kHint);
    }
    const auto prefix = program_path().parent_path().parent_path();
    // A build folder is build/PRESET in the source tree.
    const auto source = prefix.parent_path().parent_path();
    for (const auto& dir : {prefix / "share/assay", source / "data"}) {
        if (fs::is_directory(dir, ignored)) return dir;
    }
    throw Error(fmt::format("the data files of assay are missing: no {}",
                            (prefix / "share/assay").native()),
                kHint);
}

}  // namespace assay
