#include "suite/conductor.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "base/time.h"
#include "crew/crew.h"
#include "measure/protocol.h"
#include "record/json.h"
#include "suite/budget.h"
#include "suite/pool.h"
#include "suite/reason.h"

namespace assay::suite {

namespace {

// What a request may take beyond its sampling: allocation, filling, checking, settling.
constexpr double kRequestSlack = 90;

double sampling_seconds(const record::Result& result) {
    double seconds = 0;
    for (const auto& launch : result.launches) {
        // Telemetry stands beside the sampling, pauses included, from its start to its end.
        if (const auto t = launch.telemetry.find("t"); t != launch.telemetry.end()) {
            seconds += t->second.empty() ? 0 : std::max(0.0, t->second.back());
            continue;
        }
        for (const auto& [name, samples] : launch.samples) {
            if (samples.unit != "s") continue;
            for (const double value : samples.values) seconds += value;
        }
    }
    return seconds;
}

// "gemm m=512 n=512 k=512 dtype=fp32 by oneDNN 2.6.3": what a child did when it ended.
std::string was_running(const record::Result& result) {
    auto text = result.probe + " " + result.what.text();
    const auto& conditions = result.conditions;
    if (conditions.library.empty()) return text;
    text += " by " + conditions.library;
    if (!conditions.library_version.empty()) text += " " + conditions.library_version;
    return text;
}

}  // namespace

Conductor::Conductor(Settings settings, Progress& progress)
    : settings_(std::move(settings)), progress_(progress) {
    executor_ =
        settings_.in_process ? in_process_executor() : child_executor(settings_.program, "worker");
}

std::vector<std::string> Conductor::resolve(record::Run& run) {
    const auto ask = [&](const std::string& device) {
        return executor_->ask({{"do", "resolve"}, {"device", device}}, kRequestSlack);
    };
    Json reply;
    std::vector<std::string> passed_over;
    try {
        reply = ask(settings_.device);
        passed_over = reply.at("passed_over").get<std::vector<std::string>>();
    } catch (const crew::ChildFailed& error) {
        // A module that takes its child down is no reason not to measure the CPU.
        if (settings_.device != "best") throw;
        reply = ask("cpu");
        passed_over = {"every accelerator: a module " + error.ending().text()};
    }
    for (const auto& why : passed_over) progress_.note("passed over " + why);
    if (!passed_over.empty()) run.provenance.settings["passed over"] = join(passed_over, "; ");
    return reply.at("devices").get<std::vector<std::string>>();
}

record::DeviceFacts Conductor::open(const std::string& id, record::Run& run) {
    const auto opened = record::provenance_from_json(
        executor_->ask({{"do", "open"}, {"device", id}}, kRequestSlack).at("provenance"));
    record::add(run.provenance, opened);
    return opened.devices.at(0);
}

std::vector<Conductor::Task> Conductor::tasks_of(const Plan& plan,
                                                 const record::DeviceFacts& facts) const {
    std::vector<Task> tasks;
    for (const auto& step : plan.steps) {
        if (!runs_on(step, facts)) continue;
        const auto cases = step.probe->expand(step.options, facts);
        const auto first = tasks.size();
        for (const auto& protocol : settings_.protocols) {
            for (const auto& what : cases) {
                if (protocol != settings_.protocols.front() && step.probe->has_own_method(what)) {
                    continue;
                }
                Task task;
                task.result.probe = step.probe->name();
                task.result.device = facts.id;
                task.result.what = what;
                task.result.conditions.protocol = protocol;
                tasks.push_back(std::move(task));
            }
        }
        const double each = step.weight / static_cast<double>(tasks.size() - first);
        for (auto i = first; i < tasks.size(); ++i) tasks[i].weight = each;
    }
    if (tasks.empty()) {
        throw UsageError(fmt::format("suite \"{}\" has nothing to run on {}", plan.suite, facts.id),
                         "choose another --suite or --device");
    }
    return tasks;
}

record::Result Conductor::measure_one(const record::Result& asked, double limit_s) {
    const Json request{{"do", "measure"},
                       {"result", record::to_json(asked)},
                       {"protocol", asked.conditions.protocol},
                       {"limit_s", limit_s},
                       {"seed", json_integer(settings_.seed)}};
    auto failed = asked;
    failed.status = record::Status::failed;
    try {
        const auto on_news = [&](const Json& news) {
            if (news.at("type") != "library") return;
            news.at("library").get_to(failed.conditions.library);
            news.at("version").get_to(failed.conditions.library_version);
            news.at("file").get_to(failed.conditions.library_file);
        };
        const Json reply = executor_->ask(request, limit_s + kRequestSlack, on_news);
        return record::result_from_json(reply.at("result"));
    } catch (const Interrupted&) {
        throw;
    } catch (const crew::ChildFailed& error) {
        failed.reason = reason(was_running(failed) + ": " + error.ending().text(), error.hint());
    } catch (const Error& error) {
        failed.reason = reason(error.what(), error.hint());
    }
    return failed;
}

void Conductor::measure(std::vector<Task>& tasks, double budget_s, record::Run& run,
                        const OnResult& on_result) {
    std::vector<double> weights;
    for (int launch = 0; launch < settings_.launches; ++launch) {
        for (const auto& task : tasks) weights.push_back(task.weight);
    }
    Budget budget(budget_s, settings_.limit_s, weights);
    const double start = monotonic_seconds();
    std::size_t handed_on = 0;
    const auto hand_on = [&] {
        const auto& result = tasks[handed_on++].result;
        run.results.push_back(result);
        on_result(result);
    };

    std::size_t done = 0;
    try {
        for (int launch = 0; launch < settings_.launches; ++launch) {
            if (launch > 0) executor_->renew();  // a launch is a fresh process
            for (auto& task : tasks) {
                throw_if_interrupted();
                progress_.step(
                    done, weights.size(),
                    fmt::format("{} {} {}", task.result.probe, task.result.conditions.protocol,
                                task.result.what.text()));
                const double before = monotonic_seconds();
                auto asked = task.result;
                asked.launches.clear();
                asked.checks.clear();
                const auto measured = measure_one(asked, budget.share(done, before - start));
                budget.spent(monotonic_seconds() - before, sampling_seconds(measured));
                pool(task.result, measured);
                ++done;
                if (launch + 1 == settings_.launches) hand_on();
            }
        }
        throw_if_interrupted();  // in this process, the last case may have been cut short
    } catch (const Interrupted&) {
        run.state = record::RunState::interrupted;
        // What earlier launches measured of cases that never got their last one is kept.
        while (handed_on < std::min(done, tasks.size())) hand_on();
    }
}

void Conductor::run(const Plan& plan, record::Run& run, const std::function<void()>& on_start,
                    const OnResult& on_result) {
    const double start = monotonic_seconds();
    std::vector<std::vector<Task>> tasks;
    double budget_s = 0;
    try {
        for (const auto& id : resolve(run)) {
            const auto facts = open(id, run);
            tasks.push_back(tasks_of(plan, facts));
            budget_s = plan.budget.on(facts);  // the devices of a run are of one kind
        }
    } catch (const Interrupted&) {
        run.state = record::RunState::interrupted;
        tasks.clear();
    }
    on_start();
    progress_.expect(budget_s);
    for (std::size_t device = 0; device < tasks.size(); ++device) {
        if (run.state == record::RunState::interrupted) break;
        // What is left, shared by the devices to come; opening them has taken some of it.
        const double left = std::max(Budget::kLeast, budget_s - (monotonic_seconds() - start));
        const double share = budget_s > 0 ? left / static_cast<double>(tasks.size() - device) : 0;
        measure(tasks[device], share, run, on_result);
    }
    progress_.finish();
    run.ended = utc_now();
}

}  // namespace assay::suite
