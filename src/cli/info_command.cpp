#include "cli/info_command.h"

#include "base/error.h"
#include "base/files.h"
#include "base/time.h"
#include "cli/complain.h"
#include "record/json.h"
#include "report/format.h"
#include "report/promises_json.h"
#include "suite/executor.h"

namespace assay::cli {

namespace {

constexpr double kAskLimit = 60;

// Adds what a module knows to the run. It is asked in a child: a driver that crashes or hangs costs
// its own module only.
void add_module(suite::Executor& executor, const Json& module, record::Run& run) {
    const auto kind = module.at("kind").get<std::string>();
    std::string why;
    auto severity = record::Severity::note;  // no device is no fault
    try {
        const Json reply = executor.ask({{"do", "module"}, {"kind", kind}}, kAskLimit);
        record::add(run.provenance, record::provenance_from_json(reply.at("provenance")));
        why = reply.at("why").get<std::string>();
    } catch (const Interrupted&) {
        throw;
    } catch (const Error& error) {
        why = error.what();
        severity = record::Severity::warning;
    }
    if (why.empty()) return;
    run.findings.push_back({"module",
                            severity,
                            "module " + kind + ": " + why,
                            {module.at("file").get<std::string>()},
                            "install what is missing, or remove the module"});
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
    const Json modules = executor->ask({{"do", "modules"}}, kAskLimit).at("modules");
    for (const auto& module : modules) add_module(*executor, module, run);
    run.ended = utc_now();
    if (format == report::Format::json) {
        const Json inventory{{"modules", modules}, {"promises", report::promises_json(run)}};
        write_file(output_, dump_line(record::to_json(run, "inventory", inventory)) + "\n");
    } else {
        write_file(output_,
                   report::inventory_text(run) +
                       (run.findings.empty() ? "" : report::verdict_text({}, run.findings)));
    }
    if (!run.provenance.devices.empty()) return kExitFine;
    complain("no device found",
             "modules are looked for beside the program and on ASSAY_MODULE_PATH");
    return kExitFailed;
}

}  // namespace assay::cli
