// Runs a plan on devices: children measure, the conductor shares out time, pools launches, survives
// crashes and hands each result on as it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "record/run.h"
#include "suite/executor.h"
#include "suite/plan.h"

namespace assay::suite {

struct Settings {
    std::string device = "best";  // device::parse_device
    std::vector<std::string> protocols{"boost"};
    int launches = 1;
    std::uint64_t seed = 0;
    double limit_s = 10;  // sampling of one case
    bool in_process = false;
    std::string program;  // this program's path, for children
};

class Conductor {
  public:
    using OnResult = std::function<void(const record::Result&)>;

    Conductor(Settings settings, Progress& progress);

    // Fills the run's devices, results, state and end. `on_start` is called once the devices are
    // known and nothing is measured yet. A case whose child dies is a failed result; Ctrl-C ends
    // the run as interrupted. Throws UsageError for options or a device without a meaning.
    void run(const Plan& plan, record::Run& run, const std::function<void()>& on_start,
             const OnResult& on_result);

  private:
    struct Task {
        record::Result result;
        double weight = 1;
    };

    std::vector<std::string> resolve(record::Run& run);
    record::DeviceFacts open(const std::string& id, record::Run& run);
    std::vector<Task> tasks_of(const Plan& plan, const record::DeviceFacts& facts) const;
    void measure(std::vector<Task>& tasks, double budget_s, record::Run& run,
                 const OnResult& on_result);
    record::Result measure_one(const record::Result& asked, double limit_s);

    Settings settings_;
    Progress& progress_;
    std::unique_ptr<Executor> executor_;
};

}  // namespace assay::suite
