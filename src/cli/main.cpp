// The program: finds the subcommand, runs it, and turns errors into two lines and a status.
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"

namespace {

using namespace assay;

int complain(const std::string& what, const std::string& hint, int status) {
    fmt::print(stderr, "assay: {}\n", what);
    if (!hint.empty()) fmt::print(stderr, "       {}\n", hint);
    return status;
}

// The word that CLI11 could not place, and what it may have meant.
int complain_of_usage(const CLI::App& app, const CLI::ParseError& error) {
    std::string what = error.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    const auto* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
    std::string hint = fmt::format("assay {}--help lists what there is",
                                   command == &app ? "" : command->get_name() + " ");
    const auto extras = app.remaining(true);
    if (!extras.empty()) {
        const bool is_option = extras.front().starts_with("-");
        std::vector<std::string> known;
        if (is_option) {
            for (const auto* option : command->get_options()) known.push_back(option->get_name());
        } else {
            for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
                if (!sub->get_group().empty()) known.push_back(sub->get_name());
            }
        }
        what = fmt::format("unknown {} \"{}\"", is_option ? "option" : "command", extras.front());
        const auto name = extras.front().substr(0, extras.front().find('='));
        if (const auto near = nearest(name, known); !near.empty()) {
            hint = fmt::format("did you mean {}? {}", near, hint);
        }
    }
    return complain(what, hint, kExitUsage);
}

int run(int argc, char** argv) {
    CLI::App app{"assay: what an AI accelerator really delivers"};
    app.set_version_flag("--version", fmt::format("assay {} ({})", version(), build()));
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);

    auto commands = cli::all_commands();
    std::vector<std::pair<CLI::App*, cli::Command*>> declared;
    for (auto& command : commands) declared.emplace_back(command->declare(app), command.get());

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {  // --help, --version
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        return complain_of_usage(app, error);
    }
    for (const auto& [parsed, command] : declared) {
        if (parsed->parsed()) return command->run();
    }
    return kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
    install_interrupt_handlers();
    cli::remember_command_line(argc, argv);
    try {
        const int status = run(argc, argv);
        if (std::fflush(stdout) != 0) {
            return complain("standard output can't be written", "is the disk full?", kExitFailed);
        }
        return status;
    } catch (const UsageError& error) {
        return complain(error.what(), error.hint(), kExitUsage);
    } catch (const Interrupted& error) {
        return complain(error.what(), "", kExitInterrupted);
    } catch (const Error& error) {
        return complain(error.what(), error.hint(), kExitFailed);
    } catch (const std::exception& error) {
        return complain(error.what(), "this is a fault of assay: please report it with the command",
                        kExitFailed);
    }
}
