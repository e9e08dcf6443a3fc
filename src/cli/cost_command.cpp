#include "cli/cost_command.h"

#include <algorithm>
#include <array>
#include <regex>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/cost_words.h"
#include "cli/number_options.h"
#include "record/json.h"
#include "report/cost.h"

namespace assay::cli {

namespace {

void put_network(plan::Deployment& deployment, const std::string& text,
                 const catalog::Prices& prices) {
    if (text == "quoted") return;
    deployment.network_name = text.empty() ? deployment.system.network : text;
    deployment.network = network(deployment.network_name, prices);
}

bool quoted(const std::string& word, const char* option, const char* otherwise) {
    if (word == "quoted") return true;
    if (word == otherwise) return false;
    const std::vector<std::string> known{otherwise, "quoted"};
    throw_unknown(option, word, known);
}

// The dashes that an option's name has on the command line.
std::string dashed(const std::string& name) {
    return "--" + name;
}

}  // namespace

CLI::App* CostCommand::declare(CLI::App& app) {
    auto* command = app.add_subcommand(
        "cost", "what a system costs to own or rent, and a token or training run on it");
    command_ = command;
    declare_system(*command);
    declare_work(*command);
    declare_rest(*command);
    command->footer(
        "Prices, rates, systems and networks: assay cost --list. Copy the file that it names, put\n"
        "your own numbers in, and give it with --prices.\n"
        "Examples:\n"
        "  assay cost --system h200 --servers 128\n"
        "  assay cost --system h200 --servers 127 --network ib-ndr,management_ports=4 --bom\n"
        "  assay cost --system mi355x --servers 64 --network ethernet-400g,oversubscription=2 "
        "--set pue=1.2,life=5\n"
        "  assay cost --system b200 --servers 32 --tokens-per-s 20000 --counts output "
        "--input-share 0.8\n"
        "  assay cost --system h100 --servers 2048 --training-tokens 15T --training-tokens-per-s "
        "6.6M --instance 16384\n"
        "  assay cost --system h200 --servers 128 --compare h200 --compare-rate 2.50\n"
        "  assay cost --rate 2.50 --instance 8 --tokens-per-s 952 --counts output\n"
        "  assay cost --rate 6 --instance 8 --ttft 378ms --tpot 8.51ms --input-tokens 8192 "
        "--output-tokens 1024\n"
        "  assay cost --scenario h200-owned");
    return command;
}

void CostCommand::declare_system(CLI::App& command) {
    const auto* group = "What is bought or rented";
    const auto option = [&](const char* name, std::string& word, const char* help) {
        return command.add_option(name, word, help)->group(group);
    };
    option("--system", words_.system, "a system of the price file: h200, b200, mi355x, ...");
    option("--servers", words_.servers, "servers, or racks, that are bought");
    option("--network", words_.network,
           "NAME[,key=value,...] of the price file, or quoted; default the system's");
    option("--storage", words_.storage, "per-tb, or quoted")->capture_default_str();
    option("--power", words_.power, "counted, or quoted")->capture_default_str();
    option("--without", words_.without, "parts that aren't paid for: spares,internet");
    option("--capital", words_.capital, "more that is bought, $: spare-parts=90000");
    option("--monthly", words_.monthly, "more that is paid each month, $: engineers=60000");
    option(
        "--job-nodes", words_.job_nodes,
        "nodes of the job that failures stop; default all, or the instance where it only serves");
    option("--rate", words_.rate, "$ of a rented device-hour: nothing is bought");
    option("--devices", words_.devices, "with --rate: devices that are rented");
}

void CostCommand::declare_work(CLI::App& command) {
    const auto* group = "What it does";
    const auto option = [&](const char* name, std::string& word, const char* help) {
        return command.add_option(name, word, help)->group(group);
    };
    option("--tokens-per-s", words_.tokens_per_s, "tokens per second of an instance that serves");
    option("--counts", words_.counts, "which tokens those are: total, output or input")
        ->capture_default_str();
    option("--input-share", words_.input_share, "input tokens of all tokens: tells the others");
    option("--instance", words_.instance,
           "devices that serve or train together; default those of one system");
    option("--concurrency", words_.concurrency, "requests at a time, with --ttft and --tpot")
        ->capture_default_str();
    option("--input-tokens", words_.input_tokens, "of a request");
    option("--output-tokens", words_.output_tokens, "of a request");
    option("--ttft", words_.ttft, "time to the first token: 378ms");
    option("--tpot", words_.tpot, "time of each further token: 8.51ms");
    option("--training-tokens", words_.training_tokens, "of a training run: 300B, 15T");
    option("--training-tokens-per-s", words_.training_tokens_per_s, "of the instance that trains");
    option("--step", words_.step, "time of a training step, for checkpoints counted in steps");
    option("--compare", words_.compare, "a second system");
    option("--compare-servers", words_.compare_servers, "default as many devices as the first");
    option("--compare-network", words_.compare_network, "default the system's");
    option("--compare-rate", words_.compare_rate, "$ of a device-hour, where it is rented");
    option("--compare-tokens-per-s", words_.compare_tokens_per_s,
           "of an instance, counted as --counts says");
    option("--compare-training-tokens-per-s", words_.compare_training_tokens_per_s,
           "of the instance that trains; default training isn't compared");
    option("--compare-instance", words_.compare_instance, "default the devices of one system");
}

void CostCommand::declare_rest(CLI::App& command) {
    command.add_option("--prices", words_.prices, "price file in place of the shipped one");
    command.add_option("--set", words_.set, "inputs: pue=1.2,life=6,h200_server=300000");
    command.add_option("--financing", words_.financing,
                       "wacc from debt=0.7,debt-rate=0.09,equity-rate=0.15,tax=0.21");
    command.add_option("--scenario", words_.scenario,
                       "a shipped calculation or a TOML file, whose options hold unless given");
    command.add_option("--date", words_.date, "prices are old as of YYYY-MM-DD; default today");
    command.add_flag("--bom", words_.bom, "the network's bill of materials alone, without prices");
    command.add_flag("--list", words_.list, "list systems, networks and inputs");
    command.add_option("--format", words_.format, "table, json or csv")->capture_default_str();
    command.add_option("--output", words_.output, "file, - for standard output")
        ->capture_default_str();
}

void CostCommand::follow(const catalog::Scenario& scenario) {
    std::vector<std::string> known;
    for (const auto* option : command_->get_options())
        known.push_back(option->get_name().substr(2));
    for (const auto& [name, text] : scenario.options) {
        auto* option = command_->get_option_no_throw(dashed(name));
        if (option == nullptr || name == "scenario")
            throw_unknown("option of a scenario", name, known);
        if (option->count() > 0) continue;
        option->add_result(text);
        option->run_callback();
    }
}

bool CostCommand::given(const char* option) const {
    return command_->get_option(option)->count() > 0;
}

// An option that would change nothing is refused: its user expects something of it.
void CostCommand::refuse_idle_options() const {
    struct Rule {
        const char* option;
        const char* needs;
        const char* excludes;
    };
    static constexpr std::array kRules{
        Rule{"--compare-servers", "--compare", "--compare-rate"},
        Rule{"--compare-network", "--compare", "--compare-rate"},
        Rule{"--compare-rate", "--compare", nullptr},
        Rule{"--compare-tokens-per-s", "--compare", nullptr},
        Rule{"--compare-training-tokens-per-s", "--compare", nullptr},
        Rule{"--compare-training-tokens-per-s", "--training-tokens", nullptr},
        Rule{"--compare-instance", "--compare", nullptr},
        Rule{"--devices", "--rate", "--servers"},
        Rule{"--servers", nullptr, "--rate"},
        Rule{"--network", nullptr, "--rate"},
        Rule{"--storage", nullptr, "--rate"},
        Rule{"--power", nullptr, "--rate"},
        Rule{"--without", nullptr, "--rate"},
        Rule{"--capital", nullptr, "--rate"},
        Rule{"--monthly", nullptr, "--rate"},
        Rule{"--job-nodes", nullptr, "--rate"},
        Rule{"--step", nullptr, "--rate"},
        Rule{"--financing", nullptr, "--rate"},
        Rule{"--input-share", "--tokens-per-s", "--input-tokens"},
        Rule{"--counts", "--tokens-per-s", nullptr},
        Rule{"--concurrency", "--ttft", nullptr},
    };
    for (const auto& rule : kRules) {
        if (!given(rule.option)) continue;
        if (rule.needs != nullptr && !given(rule.needs)) {
            throw UsageError(fmt::format("{} does nothing without {}", rule.option, rule.needs),
                             fmt::format("give {} too, or leave {} out", rule.needs, rule.option));
        }
        if (rule.excludes != nullptr && given(rule.excludes)) {
            throw UsageError(fmt::format("{} does nothing with {}", rule.option, rule.excludes),
                             "give one of them");
        }
    }
}

catalog::Prices CostCommand::load_prices() const {
    auto prices = catalog::load_prices(
        words_.prices.empty() ? data_dir() / "prices.toml" : std::filesystem::path(words_.prices));
    if (scenario_) {
        for (const auto& input : scenario_->inputs) catalog::replace_input(prices, input);
    }
    if (!words_.financing.empty()) {
        catalog::set_input(prices, "wacc", cost_of_capital(words_.financing));
    }
    for (const auto& [name, value] : pairs(words_.set, "--set")) {
        catalog::set_input(prices, name, parse_number(value, name));
    }
    return prices;
}

plan::Deployment CostCommand::deployment(const catalog::Prices& prices) const {
    if (words_.system.empty()) {
        throw UsageError("no --system given",
                         "name one (assay cost --list), or give --rate for rented devices");
    }
    plan::Deployment deployment;
    deployment.system_name = words_.system;
    deployment.system = prices.system(words_.system);
    if (words_.servers.empty()) {
        throw UsageError("no --servers given", "say how many are bought: --servers 128");
    }
    deployment.servers = device_count_option(words_.servers, "--servers");
    put_network(deployment, words_.network, prices);
    deployment.storage_quoted = quoted(words_.storage, "--storage", "per-tb");
    deployment.power_quoted = quoted(words_.power, "--power", "counted");
    if (!words_.job_nodes.empty())
        deployment.job_nodes = device_count_option(words_.job_nodes, "--job-nodes");
    if (!words_.without.empty()) {
        for (const auto& name : split(words_.without, ',')) {
            deployment.without.insert(std::string(trim(name)));
        }
    }
    deployment.extra_capital = amounts(words_.capital, "--capital");
    deployment.extra_monthly = amounts(words_.monthly, "--monthly");
    return deployment;
}

plan::Work CostCommand::work(std::int64_t devices) const {
    plan::Work work;
    work.instance =
        words_.instance.empty() ? devices : device_count_option(words_.instance, "--instance");
    const bool requests = !words_.ttft.empty() || !words_.tpot.empty();
    if (requests && !words_.tokens_per_s.empty()) {
        throw UsageError("--tokens-per-s and --ttft both tell the rate",
                         "give the rate, or the times and lengths of a request");
    }
    if (requests) {
        if (words_.ttft.empty() || words_.tpot.empty() || words_.input_tokens.empty() ||
            words_.output_tokens.empty()) {
            throw UsageError("--ttft and --tpot need each other and the lengths of a request",
                             "give --ttft, --tpot, --input-tokens and --output-tokens");
        }
        work.rates = plan::token_rates(
            plan::Requests{positive_option(words_.concurrency, "--concurrency"),
                           positive_option(words_.input_tokens, "--input-tokens"),
                           positive_option(words_.output_tokens, "--output-tokens"),
                           time_option(words_.ttft, "--ttft"), time_option(words_.tpot, "--tpot")});
    } else if (!words_.tokens_per_s.empty()) {
        std::optional<double> input_share;
        if (!words_.input_share.empty()) {
            input_share = share(words_.input_share, "--input-share");
        } else if (!words_.input_tokens.empty() && !words_.output_tokens.empty()) {
            const double input = positive_option(words_.input_tokens, "--input-tokens");
            input_share =
                input / (input + positive_option(words_.output_tokens, "--output-tokens"));
        }
        work.rates = plan::token_rates(token_count_option(words_.tokens_per_s, "--tokens-per-s"),
                                       plan::parse_counts(words_.counts), input_share);
    }
    if (words_.training_tokens.empty() != words_.training_tokens_per_s.empty()) {
        throw UsageError("--training-tokens and --training-tokens-per-s need each other",
                         "give how many tokens are trained on, and how many a second");
    }
    if (!words_.training_tokens.empty()) {
        work.training_tokens = token_count_option(words_.training_tokens, "--training-tokens");
        work.training_tokens_per_s =
            token_count_option(words_.training_tokens_per_s, "--training-tokens-per-s");
    }
    if (!words_.step.empty()) work.step_s = time_option(words_.step, "--step");
    return work;
}

plan::SystemCost CostCommand::first(const catalog::Prices& prices) const {
    if (words_.rate.empty()) {
        const auto built = deployment(prices);
        const auto doing = work(built.system.devices);
        if (doing.instance > built.devices()) {
            throw UsageError(fmt::format("--instance {} of {} devices that are bought",
                                         doing.instance, built.devices()),
                             "an instance is at most the whole system");
        }
        return plan::cost_of_owned(built, prices, doing);
    }
    std::optional<catalog::System> system;
    if (!words_.system.empty()) system = prices.system(words_.system);
    plan::Rent rent;
    rent.per_device_hour = positive_option(words_.rate, "--rate");
    const auto given =
        words_.devices.empty() ? 0 : device_count_option(words_.devices, "--devices");
    const auto doing = work(system ? system->devices : std::max<std::int64_t>(given, 1));
    rent.devices = given > 0 ? given : doing.instance;
    return plan::cost_of_rented(words_.system.empty() ? "devices" : words_.system, system, rent,
                                prices, doing);
}

plan::SystemCost CostCommand::second(const catalog::Prices& prices,
                                     const plan::SystemCost& first) const {
    const auto& system = prices.system(words_.compare);
    plan::Work work;
    work.instance = words_.compare_instance.empty()
                        ? system.devices
                        : device_count_option(words_.compare_instance, "--compare-instance");
    if (!words_.compare_tokens_per_s.empty()) {
        std::optional<double> input_share;
        const auto& rates = first.work.rates;
        if (rates.total && rates.input) input_share = *rates.input / *rates.total;
        work.rates = plan::token_rates(
            token_count_option(words_.compare_tokens_per_s, "--compare-tokens-per-s"),
            plan::parse_counts(words_.counts), input_share);
    }
    if (!words_.compare_training_tokens_per_s.empty()) {
        work.training_tokens = first.work.training_tokens;
        work.training_tokens_per_s = token_count_option(words_.compare_training_tokens_per_s,
                                                        "--compare-training-tokens-per-s");
    }
    if (!words_.compare_rate.empty()) {
        return plan::cost_of_rented(
            words_.compare, system,
            {work.instance, positive_option(words_.compare_rate, "--compare-rate")}, prices, work);
    }
    plan::Deployment deployment;
    deployment.system_name = words_.compare;
    deployment.system = system;
    const auto devices = first.deployment ? first.deployment->devices() : work.instance;
    deployment.servers = words_.compare_servers.empty()
                             ? (devices + system.devices - 1) / system.devices
                             : device_count_option(words_.compare_servers, "--compare-servers");
    put_network(deployment, words_.compare_network, prices);
    if (first.deployment) {
        deployment.without = first.deployment->without;
        deployment.storage_quoted = first.deployment->storage_quoted;
        deployment.power_quoted = first.deployment->power_quoted;
        deployment.extra_capital = first.deployment->extra_capital;
        deployment.extra_monthly = first.deployment->extra_monthly;
        // Where both only serve, each one's job is its own instance.
        const bool own_job =
            words_.job_nodes.empty() && plan::serves_only(first.work) && plan::serves_only(work);
        if (!own_job) deployment.job_nodes = plan::same_job_nodes(*first.deployment, deployment);
    }
    if (work.instance > deployment.devices()) {
        throw UsageError(fmt::format("--compare-instance {} of {} devices that are bought",
                                     work.instance, deployment.devices()),
                         "an instance is at most the whole system");
    }
    return plan::cost_of_owned(deployment, prices, work);
}

std::string CostCommand::today() const {
    if (words_.date.empty()) return utc_now().substr(0, 10);
    static const std::regex kDate("[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])");
    if (!std::regex_match(words_.date, kDate)) {
        throw UsageError(fmt::format("--date {:?} is no date", words_.date),
                         "write it as 2026-11-30");
    }
    return words_.date;
}

namespace {

record::Run new_run() {
    record::Run run;
    run.id = record::new_run_id();
    run.started = utc_now();
    run.command = command_line();
    run.provenance = record::collect_provenance();
    return run;
}

void write_json(const std::string& output, record::Run run, Json content) {
    run.ended = utc_now();
    write_file(output, dump_line(record::to_json(run, "cost", std::move(content))) + "\n");
}

}  // namespace

int CostCommand::print_list(const catalog::Prices& prices, report::Format format) const {
    if (format == report::Format::json) {
        write_json(words_.output, new_run(), {{"prices", report::prices_json(prices)}});
    } else {
        write_file(words_.output, format == report::Format::csv ? report::prices_csv(prices)
                                                                : report::prices_table(prices));
    }
    return kExitFine;
}

int CostCommand::print_bill(const catalog::Prices& prices, report::Format format) const {
    const auto built = deployment(prices);
    if (!built.network) {
        throw UsageError("--bom counts a network, and this one is quoted",
                         "name a network with --network");
    }
    plan::CostReport report;
    plan::SystemCost system;
    system.name = built.system_name;
    system.deployment = built;
    const auto counted =
        plan::count_network(built.network->tree, built.nodes(), built.system.ports);
    system.figures = plan::network_figures(counted);
    report.systems.push_back(std::move(system));
    return print(report, format);
}

int CostCommand::print(const plan::CostReport& report, report::Format format) const {
    auto run = new_run();
    run.findings = plan::cost_findings(report, today());
    const bool holds = std::ranges::all_of(report.published, &plan::PublishedFigure::holds);
    if (format == report::Format::json) {
        write_json(words_.output, std::move(run), report::cost_json(report));
    } else if (format == report::Format::csv) {
        write_file(words_.output, report::cost_csv(report));
    } else {
        write_file(words_.output,
                   report::cost_table(report) +
                       (run.findings.empty() ? "" : report::verdict_text({}, run.findings)));
    }
    return holds ? kExitFine : kExitLimit;
}

int CostCommand::run() {
    const bool as_published = std::ranges::none_of(command_->get_options(), [](const auto* option) {
        static const std::vector<std::string> kHarmless{"--scenario", "--format", "--output",
                                                        "--date"};
        return option->count() > 0 &&
               std::ranges::find(kHarmless, option->get_name()) == kHarmless.end();
    });
    if (!words_.scenario.empty()) {
        scenario_ = catalog::load_scenario(
            catalog::find_scenario(words_.scenario, data_dir() / "scenarios"));
        follow(*scenario_);
    }
    refuse_idle_options();
    const auto format = report::parse_format(words_.format);
    check_writable(words_.output);
    const auto prices = load_prices();
    if (words_.list) return print_list(prices, format);
    if (words_.bom) return print_bill(prices, format);

    plan::CostReport report;
    report.systems.push_back(first(prices));
    if (!words_.compare.empty()) {
        report.systems.push_back(second(prices, report.systems.front()));
        // Two of one name must be told apart.
        auto& name = report.systems.back().name;
        if (name == report.systems.front().name) name += " (second)";
        report.comparison = plan::compare(report.systems[0], report.systems[1]);
    }
    if (scenario_) {
        report.scenario = scenario_->what + (as_published ? "" : ", with changes");
    }
    if (scenario_ && as_published) {
        report.published = plan::beside_published(scenario_->published, report.systems.front());
    }
    return print(report, format);
}

}  // namespace assay::cli
