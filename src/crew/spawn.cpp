#include "crew/spawn.h"

#include <csignal>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include "base/error.h"

namespace assay::crew {

namespace {

// What posix_spawn wants to know, freed whatever happens. Its setters fail for lack of memory only.
class Plan {
  public:
    Plan() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    ~Plan() {
        ::posix_spawnattr_destroy(&attributes);
        ::posix_spawn_file_actions_destroy(&actions);
    }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

bool sets(const Command& command, std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('='));
    for (const auto& [key, value] : command.environment)
        if (key == name) return true;
    return false;
}

std::vector<std::string> environment_of(const Command& command) {
    std::vector<std::string> entries;
    for (char** entry = ::environ; entry && *entry; ++entry)
        if (!sets(command, *entry)) entries.emplace_back(*entry);
    for (const auto& [name, value] : command.environment) entries.push_back(name + "=" + value);
    return entries;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words) result.push_back(word.data());
    result.push_back(nullptr);
    return result;
}

}  // namespace

pid_t spawn(const Command& command, const Descriptors& descriptors) {
    if (command.argv.empty()) throw Error("a child needs a program to run");

    Plan plan;
    const auto hand_over = [&](int ours, int theirs) {
        if (ours >= 0) ::posix_spawn_file_actions_adddup2(&plan.actions, ours, theirs);
    };
    hand_over(descriptors.input, STDIN_FILENO);
    hand_over(descriptors.output, STDOUT_FILENO);
    hand_over(descriptors.error, STDERR_FILENO);
    hand_over(descriptors.reply, kReplyDescriptor);
    // Ours are closed on exec anyway; this is for those that libraries in this process left open.
    ::posix_spawn_file_actions_addclosefrom_np(
        &plan.actions, descriptors.reply >= 0 ? kReplyDescriptor + 1 : STDERR_FILENO + 1);

    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&plan.attributes, &none);
    ::posix_spawnattr_setsigdefault(&plan.attributes, &all);
    ::posix_spawnattr_setpgroup(&plan.attributes, 0);
    ::posix_spawnattr_setflags(
        &plan.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::vector<std::string> argv = command.argv;
    std::vector<std::string> environment = environment_of(command);
    pid_t pid = 0;
    const int reason = ::posix_spawnp(&pid, argv[0].c_str(), &plan.actions, &plan.attributes,
                                      pointers(argv).data(), pointers(environment).data());
    if (reason != 0)
        throw Error(
            fmt::format("can't start \"{}\": {}", argv[0], std::generic_category().message(reason)),
            "check that the program is there and may be run");
    return pid;
}

}  // namespace assay::crew
