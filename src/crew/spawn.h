// Starting a program with its descriptors, group and signals in a known state.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace assay::crew {

struct Command {
    std::vector<std::string> argv;  // argv[0] is looked up in PATH unless it holds a slash
    // Set on top of this process's own environment.
    std::vector<std::pair<std::string, std::string>> environment = {};
    // True: the program calls serve(). False: a foreign peer, which answers on its standard output
    // and sends no heartbeats, so that only the time limit tells a hang.
    bool own_protocol = true;
};

// Where an own child writes its replies.
inline constexpr int kReplyDescriptor = 3;

// The descriptors of this process that become the child's; `reply` -1 when there is none.
struct Descriptors {
    int input;
    int output;
    int error;
    int reply;
};

// Starts `command` as the leader of its own process group, with default signal dispositions, no
// blocked signals and no other descriptors. Throws Error naming the program and the reason.
pid_t spawn(const Command& command, const Descriptors& descriptors);

}  // namespace assay::crew
