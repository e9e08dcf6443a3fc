#include "cli/command.h"
#include "cli/cost_command.h"
#include "cli/info_command.h"
#include "cli/plan_command.h"
#include "cli/probe_command.h"
#include "cli/run_command.h"
#include "cli/worker_command.h"
#include "probes/probe.h"

namespace assay::cli {

namespace {

std::vector<std::string>& remembered() {
    static std::vector<std::string> words;
    return words;
}

}  // namespace

std::vector<std::unique_ptr<Command>> all_commands() {
    std::vector<std::unique_ptr<Command>> commands;
    commands.push_back(std::make_unique<RunCommand>());
    commands.push_back(std::make_unique<InfoCommand>());
    commands.push_back(std::make_unique<CostCommand>());
    for (const auto* probe : probes::all_probes()) {
        commands.push_back(std::make_unique<ProbeCommand>(*probe));
    }
    commands.push_back(std::make_unique<PlanCommand>());
    commands.push_back(std::make_unique<WorkerCommand>());
    return commands;
}

void remember_command_line(int argc, char** argv) {
    remembered().assign(argv, argv + argc);
}

const std::vector<std::string>& command_line() {
    return remembered();
}

}  // namespace assay::cli
