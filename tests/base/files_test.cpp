#include "base/files.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "expect_error.h"
#include "scratch.h"

namespace fs = std::filesystem;

namespace assay {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
}

// An environment variable with another value, or none, for a while.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~Variable() { set(before_ ? before_->c_str() : nullptr); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    void set(const char* value) const {
        value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_);
    }
    const char* name_;
    std::optional<std::string> before_;
};

// Root may write everything, so tests of permissions run as nobody for a while.
class NobodyIfRoot {
  public:
    NobodyIfRoot() {
        if (user_ == 0 && ::seteuid(65534) != 0) throw std::runtime_error("seteuid");
    }
    ~NobodyIfRoot() {
        if (user_ == 0 && ::seteuid(0) != 0) std::abort();
    }
    NobodyIfRoot(const NobodyIfRoot&) = delete;
    NobodyIfRoot& operator=(const NobodyIfRoot&) = delete;

  private:
    const uid_t user_ = ::geteuid();
};

TEST(ReadFile, ReturnsEveryByte) {
    const Scratch scratch;
    std::string content(200'000, '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7);
    write_file(scratch / "file", content);
    EXPECT_EQ(read_file(scratch / "file"), content);
    EXPECT_NE(read_file("/proc/self/status").find("Pid:"), std::string::npos);
}

TEST(ReadFile, NamesPathAndReason) {
    const Scratch scratch;
    const auto absent = scratch / "absent";
    expect_error<Error>([&] { read_file(absent); },
                        "can't read " + absent.string() + ": No such file or directory",
                        "check the path");
    expect_error<Error>([&] { read_file(scratch.path()); },
                        "can't read " + scratch.path().string() + ": Is a directory",
                        "not a folder");
}

TEST(WriteFile, LeavesNothingElseBehind) {
    const Scratch scratch;
    write_file(scratch / "file", "one");
    write_file(scratch / "file", "two");
    EXPECT_EQ(read_file(scratch / "file"), "two");
    EXPECT_THAT(names_in(scratch.path()), ElementsAre("file"));
}

TEST(WriteFile, WritesInTheCurrentFolder) {
    const Scratch scratch;
    const auto before = fs::current_path();
    fs::current_path(scratch.path());
    write_file("file", "here");
    fs::current_path(before);
    EXPECT_EQ(read_file(scratch / "file"), "here");
}

TEST(WriteFile, FollowsTheUmaskAndKeepsAnEarlierMode) {
    const Scratch scratch;
    const auto mask = ::umask(027);
    write_file(scratch / "new", "x");
    ::umask(mask);
    EXPECT_EQ(fs::status(scratch / "new").permissions(), fs::perms{0640});

    fs::permissions(scratch / "new", fs::perms{0604});
    write_file(scratch / "new", "y");
    EXPECT_EQ(fs::status(scratch / "new").permissions(), fs::perms{0604});
}

TEST(WriteFile, WritesBehindALink) {
    const Scratch scratch;
    write_file(scratch / "file", "old");
    fs::create_symlink("file", scratch / "link");
    write_file(scratch / "link", "new");
    EXPECT_TRUE(fs::is_symlink(scratch / "link"));
    EXPECT_EQ(read_file(scratch / "file"), "new");
}

TEST(WriteFile, NamesPathAndReason) {
    const Scratch scratch;
    const auto nowhere = scratch / "absent/file";
    expect_error<Error>([&] { write_file(nowhere, "x"); },
                        "can't write " + nowhere.string() + ": No such file or directory",
                        "folder exists");
    expect_error<Error>([&] { write_file(scratch.path(), "x"); },
                        "can't write " + scratch.path().string() + ": Is a directory",
                        "not a folder");
    write_file(scratch / "file", "x");
    const auto below = scratch / "file/below";
    expect_error<Error>([&] { write_file(below, "x"); },
                        "can't write " + below.string() + ": Not a directory", "not a folder");
}

TEST(WriteFile, RespectsWriteProtection) {
    const NobodyIfRoot user;
    const Scratch scratch;
    const auto path = scratch / "file";
    write_file(path, "kept");
    fs::permissions(path, fs::perms{0444});
    expect_error<Error>([&] { write_file(path, "x"); },
                        "can't write " + path.string() + ": Permission denied", "permissions");
    EXPECT_EQ(read_file(path), "kept");
}

TEST(WriteFile, WritesInPlaceWhatIsNoRegularFile) {
    EXPECT_NO_THROW(write_file("/dev/null", "x"));
    struct stat device {};
    ASSERT_EQ(::stat("/dev/null", &device), 0);
    EXPECT_TRUE(S_ISCHR(device.st_mode));
    expect_error<Error>([] { write_file("/dev/full", "x"); },
                        "can't write /dev/full: No space left on device", "free some space");
}

TEST(WriteFile, KeepsTheEarlierFileWhenTheNewOneBreaksOff) {
    const Scratch scratch;
    const auto path = scratch / "file";
    write_file(path, "kept");

    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_error<Error>([&] { write_file(path, std::string(10'000, 'x')); },
                        "can't write " + path.string() + ": File too large", "another disk");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);

    EXPECT_EQ(read_file(path), "kept");
    EXPECT_THAT(names_in(scratch.path()), ElementsAre("file"));
}

TEST(WriteFile, KeepsTheEarlierFileOnAFullDisk) {
    const char* ci = std::getenv("CI");
    if (ci == nullptr || std::string_view(ci) != "true" || ::geteuid() != 0) {
        GTEST_SKIP() << "mounts a disk: only as root under CI=true";
    }
    const Scratch scratch;
    const auto disk = scratch / "disk";
    fs::create_directory(disk);
    if (::mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
        GTEST_SKIP() << "mounting is not allowed here";
    }
    const auto path = disk / "file";
    write_file(path, "kept");
    expect_error<Error>([&] { write_file(path, std::string(1 << 20, 'x')); },
                        "can't write " + path.string() + ": No space left on device",
                        "free some space");
    EXPECT_EQ(read_file(path), "kept");
    EXPECT_THAT(names_in(disk), ElementsAre("file"));
    EXPECT_EQ(::umount(disk.c_str()), 0);
}

// Standard output replaced by `fd` while `action` runs.
template <class Action>
void with_standard_output(int fd, Action&& action) {
    std::fflush(stdout);
    const int saved = ::dup(STDOUT_FILENO);
    ::dup2(fd, STDOUT_FILENO);
    action();
    std::fflush(stdout);
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
}

TEST(WriteFile, WritesDashToStandardOutputAfterWhatWasPrinted) {
    const Scratch scratch;
    const int fd = ::open((scratch / "out").c_str(), O_WRONLY | O_CREAT, 0666);
    with_standard_output(fd, [] {
        std::fputs("printed ", stdout);
        write_file("-", "written");
    });
    ::close(fd);
    EXPECT_EQ(read_file(scratch / "out"), "printed written");
}

TEST(WriteFile, ReportsAReaderThatWentAway) {
    const auto handler = std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    with_standard_output(ends[1], [] {
        expect_error<Error>([] { write_file("-", "x"); },
                            "can't write standard output: Broken pipe", "ended early");
    });
    ::close(ends[1]);
    std::signal(SIGPIPE, handler);
}

TEST(UserFolders, FollowXdgAndHome) {
    const Variable home("HOME", "/home/u");
    {
        const Variable data("XDG_DATA_HOME", "/d");
        const Variable cache("XDG_CACHE_HOME", "/c");
        EXPECT_EQ(user_data_dir(), "/d/assay");
        EXPECT_EQ(user_cache_dir(), "/c/assay");
    }
    for (const char* unusable : {static_cast<const char*>(nullptr), "", "relative"}) {
        const Variable data("XDG_DATA_HOME", unusable);
        const Variable cache("XDG_CACHE_HOME", unusable);
        EXPECT_EQ(user_data_dir(), "/home/u/.local/share/assay");
        EXPECT_EQ(user_cache_dir(), "/home/u/.cache/assay");
    }
}

TEST(UserFolders, DoWithoutAnEnvironment) {
    const Variable home("HOME", nullptr);
    const Variable data("XDG_DATA_HOME", nullptr);
    EXPECT_TRUE(user_data_dir().is_absolute());
}

TEST(ProgramPath, IsThisTest) {
    EXPECT_EQ(program_path(), fs::path(ASSAY_BINARY_DIR) / "bin/test_base");
}

TEST(DataDir, TakesTheVariable) {
    const Scratch scratch;
    const Variable variable("ASSAY_DATA_DIR", scratch.path().c_str());
    EXPECT_EQ(data_dir(), scratch.path());
}

TEST(DataDir, RefusesAVariableThatNamesNoFolder) {
    const Variable variable("ASSAY_DATA_DIR", "/nowhere/data");
    expect_error<Error>([] { data_dir(); }, "ASSAY_DATA_DIR is /nowhere/data, which is no folder",
                        "set ASSAY_DATA_DIR");
}

TEST(DataDir, IsTheSourceTreesInABuildFolder) {
    const Variable variable("ASSAY_DATA_DIR", nullptr);
    const auto data = fs::path(ASSAY_SOURCE_DIR) / "data";
    if (fs::exists(data)) {
        EXPECT_EQ(data_dir(), data);
    } else {
        EXPECT_THROW(data_dir(), Error);
    }
}

}  // namespace
}  // namespace assay
