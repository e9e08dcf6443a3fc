// The program: finds the subcommand, runs it, and turns errors into two lines and a status.
#include <algorithm>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/complain.h"

namespace {

using namespace assay;

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options()) names.push_back(option->get_name());
    return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (!command->get_group().empty()) names.push_back(command->get_name());
    }
    return names;
}

// What the command line has wrong: the word that CLI11 could not place, and what it may have meant.
UsageError usage_error(const CLI::App& app, const CLI::ParseError& error) {
    const auto parsed = app.get_subcommands();
    const auto& command = parsed.empty() ? app : *parsed.front();
    const std::string help = parsed.empty() ? "assay --help lists the commands"
                                            : "assay " + command.get_name() + " --help tells more";
    const auto unknown = [&](const char* what, const std::string& word,
                             const std::vector<std::string>& known) {
        const auto near = nearest(word, known);
        return UsageError(fmt::format("unknown {} {:?}", what, word),
                          near.empty() ? help : fmt::format("did you mean {}? {}", near, help));
    };
    const auto unplaced = app.remaining(true);
    if (unplaced.empty()) {
        std::string what = error.what();
        std::ranges::replace(what, '\n', ' ');
        return UsageError(parsed.empty() ? "no command given" : what, help);
    }
    const auto& word = unplaced.front();
    if (word.starts_with("-")) {
        return unknown("option", word.substr(0, word.find('=')), option_names(command));
    }
    if (parsed.empty()) return unknown("command", word, command_names(app));
    return UsageError(fmt::format("{} takes no argument {:?}", command.get_name(), word), help);
}

int run(int argc, char** argv) {
    CLI::App app{"assay: what an AI accelerator really delivers"};
    app.set_version_flag("--version", fmt::format("assay {} ({})", version(), build()));
    app.require_subcommand(1);
    app.footer("Examples:\n  assay info\n  assay run\n  assay gemm --help");

    auto commands = cli::all_commands();
    std::vector<std::pair<CLI::App*, cli::Command*>> declared;
    for (auto& command : commands) declared.emplace_back(command->declare(app), command.get());

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {  // --help, --version
        std::ostringstream text;
        app.exit(success, text, text);
        write_file("-", text.str());
        return kExitFine;
    } catch (const CLI::ParseError& error) {
        throw usage_error(app, error);
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
        return run(argc, argv);
    } catch (const UsageError& error) {
        cli::complain(error.what(), error.hint());
        return kExitUsage;
    } catch (const Interrupted& error) {
        cli::complain(error.what(), "run it again for the whole");
        return kExitInterrupted;
    } catch (const Error& error) {
        cli::complain(error.what(), error.hint());
    } catch (const std::exception& error) {
        cli::complain(error.what(), "this is a fault of assay: please report it with the command");
    }
    return kExitFailed;
}
