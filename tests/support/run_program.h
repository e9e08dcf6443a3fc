// Runs a program as a user would, and says what came of it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace assay {

// A signal on the way: once `after` stands on standard error (at once when empty), and `delay_s`
// more have passed.
struct Kick {
    int signal = 0;
    std::string after = {};
    double delay_s = 0;
};

struct Program {
    std::vector<std::string> argv;                   // argv[0] is a path
    std::map<std::string, std::string> environment;  // the whole of it
    std::string input = {};                          // its standard input
    std::string output = {};  // a file that takes its standard output in place of us
    bool hang_up = false;     // closes our end of its standard output before it can write there
    std::vector<Kick> kicks = {};
    double limit_s = 60;  // SIGKILL then
};

struct Ended {
    int status = -1;  // of exit; -1 when a signal ended it
    int signal = 0;
    bool out_of_time = false;
    double seconds = 0;
    std::string out, err;
};

// Throws std::runtime_error when the program can't be started.
Ended run_program(const Program& program);

// Processes that have `NAME=value` in their environment, zombies left out.
std::vector<int> processes_with(const std::string& name, const std::string& value);

}  // namespace assay
