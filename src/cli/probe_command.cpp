#include "cli/probe_command.h"

#include "base/text.h"

namespace assay::cli {

CLI::App* ProbeCommand::declare(CLI::App& app) {
    auto* command = app.add_subcommand(probe_.name(), probe_.summary());
    for (const auto& spec : probe_.options()) {
        const auto name = spec.name;
        const auto implied = spec.implied;
        auto* option = command
                           ->add_option_function<std::string>(
                               "--" + name,
                               [this, name, implied](const std::string& value) {
                                   given_.emplace_back(name, value.empty() ? implied : value);
                               },
                               spec.help)
                           ->type_name(spec.metavar)
                           ->default_str(spec.default_value);
        if (!implied.empty()) option->expected(0, 1);
    }
    measuring_.declare(*command);
    command->footer("Examples:\n  " + join(probe_.examples(), "\n  "));
    return command;
}

int ProbeCommand::run() {
    suite::Step step{&probe_, probes::Options(probe_.options()), 1, true};
    for (const auto& [name, value] : given_) step.options.set(name, value);
    // What has no meaning on any device is said before one is opened.
    probe_.expand(step.options, {});
    suite::Plan plan;
    plan.steps.push_back(std::move(step));
    return measuring_.measure(plan, false);
}

}  // namespace assay::cli
