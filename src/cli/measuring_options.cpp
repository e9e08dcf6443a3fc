#include "cli/measuring_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/range.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "judge/rule.h"
#include "judge/verdict.h"
#include "measure/protocol.h"
#include "report/format.h"
#include "store/store.h"

namespace assay::cli {

namespace {

record::Run new_run(const suite::Plan& plan) {
    record::Run run;
    run.id = record::new_run_id();
    run.started = utc_now();
    run.command = command_line();
    run.suite = plan.suite;
    run.provenance = record::collect_provenance();
    return run;
}

// Keeps results as they are made. A store that fails midway loses nothing of the run: it is said
// once, the measuring goes on, and the document is printed all the same.
class Keeper {
  public:
    Keeper(const std::string& url, Progress& progress)
        : store_(store::open_store(url)), progress_(progress) {}

    void begin(const record::Run& run) {
        guarded([&] { store_->begin(run); });
    }
    void add(const record::Run& run, const record::Result& result) {
        guarded([&] { store_->add(run.id, result); });
    }
    void end(const record::Run& run) {
        guarded([&] { store_->end(run); });
    }
    bool failed() const { return failed_; }
    // Where the run can be found again.
    std::string describe(const record::Run& run) const {
        const auto place = store_->describe();
        if (place == "none") return "they are in what was printed: --store keeps them too";
        return fmt::format("they are run {} in {}", run.id, place);
    }

  private:
    template <class Write>
    void guarded(Write write) {
        if (failed_) return;
        try {
            write();
        } catch (const Error& error) {
            failed_ = true;
            progress_.finish();
            complain(error.what(), error.hint() + "; what follows isn't stored");
        }
    }

    std::unique_ptr<store::Store> store_;
    Progress& progress_;
    bool failed_ = false;
};

std::string document(const record::Run& run, report::Format format, const judge::Verdict* verdict) {
    switch (format) {
        case report::Format::json:
            return report::json_text(run);
        case report::Format::csv:
            return report::csv_text(run);
        case report::Format::table:
            break;
    }
    std::string text = report::results_table(run);
    if (verdict != nullptr) {
        text += report::verdict_text(*verdict, run.findings);
    } else if (!run.findings.empty()) {
        text += report::verdict_text({}, run.findings);
    }
    return text;
}

int status_of(const record::Run& run) {
    if (run.state == record::RunState::interrupted) return kExitInterrupted;
    const auto count = [&](record::Status status) {
        return std::ranges::count(run.results, status, &record::Result::status);
    };
    if (count(record::Status::failed) > 0 || count(record::Status::ok) == 0) return kExitFailed;
    return kExitFine;
}

// What a person who doesn't read the document must know of a run that isn't fine.
void explain(const record::Run& run, const Keeper& keeper) {
    const auto first = [&](record::Status status) -> const record::Result& {
        return *std::ranges::find(run.results, status, &record::Result::status);
    };
    const auto failed =
        std::ranges::count(run.results, record::Status::failed, &record::Result::status);
    if (run.state == record::RunState::interrupted) {
        complain(fmt::format("interrupted with {} {} measured", run.results.size(),
                             run.results.size() == 1 ? "case" : "cases"),
                 keeper.describe(run));
    } else if (failed > 0) {
        const auto& result = first(record::Status::failed);
        complain(fmt::format("{} of {} cases failed, the first {}: {}", failed, run.results.size(),
                             result.identity(), result.reason),
                 "run a failing case alone, or under a debugger with --in-process");
    } else {
        const auto& result = first(record::Status::skipped);
        complain(fmt::format("nothing was measured: {} was skipped: {}", result.identity(),
                             result.reason),
                 "choose a case that this device can do; the results hold each reason");
    }
}

}  // namespace

double parse_duration(const std::string& text, const std::string& option) {
    const double seconds = parse_seconds(text);
    if (seconds > 0) return seconds;
    throw UsageError(fmt::format("{} {} isn't above 0", option, text),
                     "write a time as 10, 500ms or 1m");
}

void MeasuringOptions::declare(CLI::App& command) {
    const auto group = "Every measuring command";
    const auto add = [&](const char* name, std::string& value, const char* help) {
        command.add_option(name, value, help)
            ->group(group)
            ->capture_default_str()
            ->check([](const std::string& given) {
                return given.empty() ? std::string("\"\" is no value") : std::string();
            });
    };
    add("--device", device_, "best, cpu, cuda:0, cuda:all, ...");
    add("--protocol", protocol_, "boost, sustained, article: a list, each its own result");
    add("--launches", launches_, "processes that measure each case afresh");
    add("--limit", limit_, "longest sampling of one case, as 10, 500ms, 1m");
    add("--seed", seed_, "of the random operands");
    add("--format", format_, "table, json or csv");
    add("--output", output_, "file for the results, - for standard output");
    add("--store", store_, "where results are kept: a file, none, or nothing for the default");
    command.add_flag("--in-process", in_process_, "measure in this process, for debuggers")
        ->group(group);
    command.add_flag("--quiet", quiet_, "no progress")->group(group);
}

suite::Settings MeasuringOptions::settings(const suite::Plan& plan) const {
    suite::Settings settings;
    settings.device = device_;
    if (!protocol_.empty()) {
        settings.protocols = parse_words(protocol_, "--protocol");
    } else if (!plan.protocols.empty()) {
        settings.protocols = plan.protocols;
    } else {
        settings.protocols = {"boost", "sustained"};
    }
    for (const auto& name : settings.protocols) measure::parse_protocol(name);
    settings.launches = plan.launches;
    if (!launches_.empty()) {
        const auto launches = parse_integer(launches_, "--launches");
        if (launches < 1 || launches > suite::kMostLaunches) {
            throw UsageError(
                fmt::format("--launches {} isn't 1 to {}", launches, suite::kMostLaunches),
                "4 tell the spread from process to process");
        }
        settings.launches = static_cast<int>(launches);
    }
    const auto seed = parse_integer(seed_, "--seed");
    if (seed < 0) {
        throw UsageError(fmt::format("--seed {} is negative", seed), "write 0 or more");
    }
    settings.seed = static_cast<std::uint64_t>(seed);
    settings.limit_s = parse_duration(limit_, "--limit");
    settings.in_process = in_process_;
    settings.program = program_path().string();
    return settings;
}

int MeasuringOptions::measure(const suite::Plan& plan, bool with_verdict) const {
    const auto format = report::parse_format(format_);
    const auto chosen = settings(plan);
    auto run = new_run(plan);
    // Found out before an hour of measuring, not after it.
    check_writable(output_);

    Progress progress(quiet_);
    Keeper keeper(store_, progress);
    suite::Conductor conductor(chosen, progress);
    conductor.run(
        plan, run, [&] { keeper.begin(run); },
        [&](const record::Result& result) { keeper.add(run, result); });

    const auto evidence = judge::gather(run);
    run.findings = judge::find(evidence);
    const int status = status_of(run);
    if (status == kExitFailed) run.state = record::RunState::failed;
    keeper.end(run);

    const auto verdict = judge::conclude(evidence, run.findings);
    write_file(output_, document(run, format, with_verdict ? &verdict : nullptr));
    if (status != kExitFine) explain(run, keeper);
    return keeper.failed() && status == kExitFine ? kExitFailed : status;
}

}  // namespace assay::cli
