// How long `assay plan` and `assay cost` take to answer: the program started anew each time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/time.h"

namespace {

using namespace assay;

constexpr int kRuns = 40;

// Milliseconds from start to end.
double time_of(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const double start = monotonic_seconds();
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, argv[0], &quiet, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&quiet);
    int status = 0;
    if (failed != 0 || ::waitpid(pid, &status, 0) != pid || status != 0) {
        std::fprintf(stderr, "%s %s failed\n", argv[0], argv[1]);
        std::exit(EXIT_FAILURE);
    }
    return (monotonic_seconds() - start) * 1e3;
}

void print(const char* what, const std::vector<std::string>& words) {
    std::vector<double> times;
    for (int i = 0; i < kRuns; ++i) times.push_back(time_of(words));
    std::ranges::sort(times);
    std::printf("%-34s %6.1f ms  (median of %d, least %.1f)\n", what, times[kRuns / 2], kRuns,
                times.front());
}

}  // namespace

int main() {
    const std::string assay = program_path().parent_path() / "assay";
    print("plan: kimi-k3 on three systems",
          {assay, "plan", "kimi-k3", "--on", "8xmi355x,16xb200,8xb300", "--store", "none"});
    print("plan: llama3-70b within limits", {assay, "plan", "llama3-70b", "--on", "8xh200,8xmi300x",
                                             "--slo", "ttft=2s,tpot=20ms", "--store", "none"});
    print("cost: 128 H200 servers", {assay, "cost", "--system", "h200", "--servers", "128"});
    return EXIT_SUCCESS;
}
