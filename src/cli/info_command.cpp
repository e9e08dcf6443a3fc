#include "cli/info_command.h"

#include "base/error.h"
#include "base/files.h"
#include "base/time.h"
#include "record/json.h"
#include "report/format.h"
#include "suite/executor.h"

namespace assay::cli {

namespace {

constexpr double kAskLimit = 60;

// Fills the run's devices and software from every module, in a child: a driver that crashes must
// not take the inventory down.
void add_devices(suite::Executor& executor, record::Run& run, Json& modules) {
    const Json reply = executor.ask({{"do", "modules"}}, kAskLimit);
    modules = reply.at("modules");
    for (const auto& module : modules) {
        record::add(run.provenance, record::provenance_from_json(module.at("provenance")));
        const auto why = module.at("why").get<std::string>();
        if (!why.empty()) {
            run.findings.push_back({"module",
                                    record::Severity::warning,
                                    "module " + module.at("kind").get<std::string>() + ": " + why,
                                    {module.at("file").get<std::string>()},
                                    "install what is missing, or remove the module"});
        }
    }
}

}  // namespace

CLI::App* InfoCommand::declare(CLI::App& app) {
    auto* command = app.add_subcommand("info", "devices, libraries and settings of this machine");
    command->add_option("--format", format_, "table or json")->capture_default_str();
    command->add_option("--output", output_, "file, - for standard output")->capture_default_str();
    command->add_flag("--in-process", in_process_, "look in this process, for debuggers");
    command->footer("Examples:\n  assay info\n  assay info --format json");
    return command;
}

int InfoCommand::run() {
    const auto format = report::parse_format(format_);
    if (format == report::Format::csv) {
        throw UsageError("info has no csv", "choose --format table or json");
    }
    record::Run run;
    run.id = record::new_run_id();
    run.started = utc_now();
    run.command = command_line();
    run.provenance = record::collect_provenance();

    const auto executor = in_process_ ? suite::in_process_executor()
                                      : suite::child_executor(program_path().string(), "inventory");
    Json modules;
    add_devices(*executor, run, modules);
    run.ended = utc_now();
    if (format == report::Format::json) {
        write_file(output_,
                   dump_line(record::to_json(run, "inventory", {{"modules", modules}})) + "\n");
    } else {
        write_file(output_,
                   report::inventory_text(run) +
                       (run.findings.empty() ? "" : report::verdict_text({}, run.findings)));
    }
    return run.provenance.devices.empty() ? kExitFailed : kExitFine;
}

}  // namespace assay::cli
