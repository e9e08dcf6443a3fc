// A subcommand: one file, and one line in commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

namespace assay::cli {

class Command {
  public:
    virtual ~Command() = default;
    // Adds its subcommand; called once, before parsing.
    virtual CLI::App* declare(CLI::App& app) = 0;
    // Returns an ExitStatus.
    virtual int run() = 0;
};

std::vector<std::unique_ptr<Command>> all_commands();

// argv as given, for the record.
void remember_command_line(int argc, char** argv);
const std::vector<std::string>& command_line();

}  // namespace assay::cli
