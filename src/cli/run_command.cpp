#include "cli/run_command.h"

namespace assay::cli {

CLI::App* RunCommand::declare(CLI::App& app) {
    auto* command = app.add_subcommand("run", "climb the ladder by a suite, end with a verdict");
    command->add_option("--suite", suite_, "name of a shipped suite, or a TOML file")
        ->capture_default_str();
    command->add_option("--budget", budget_,
                        "time for the whole, as 60, 90s, 5m; default the suite's");
    measuring_.declare(*command);
    command->footer(
        "Examples:\n  assay run\n  assay run --suite quick --device cpu --format json --output "
        "r.json");
    return command;
}

int RunCommand::run() {
    auto plan = suite::load_suite(suite_);
    if (!budget_.empty()) {
        plan.budget.cpu_s = plan.budget.accelerator_s = parse_duration(budget_, "--budget");
    }
    return measuring_.measure(plan, true);
}

}  // namespace assay::cli
