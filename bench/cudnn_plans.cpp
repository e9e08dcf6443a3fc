// How long attention waits for cuDNN's plans on the first GPU: planned anew, read from disk, found
// in memory. Prints a table in Markdown. Without a GPU it plans for one that is written down, which
// has cuDNN's work on the host in it and no device's.
//
//   bench_cudnn_plans [SECONDS in all]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scratch.h"
#include "base/time.h"
#include "base/units.h"
#include "base/version.h"
#include "cuda/attention_problem.h"
#include "cuda/cuda_device.h"
#include "cuda/cudnn/attention_graph.h"
#include "cuda/cudnn/plans.h"
#include "cuda/facts.h"
#include "cuda/plans/absent_device.h"
#include "stats/quantile.h"

namespace {

using namespace assay;
using namespace assay::cuda;
using work::AttentionPass;

constexpr int kTables = 3, kLookUps = 30;

// What is timed, in the table's order, and the time it shouldn't take.
struct Kind {
    const char* name;
    const char* text;
    const char* aim;
};
constexpr Kind kKinds[] = {
    {"open", "opening the library", ""},
    {"first", "first plan of a process", ""},
    {"mask", "new mask", "900 ms"},
    {"size", "new size of a known mask", "60 ms"},
    {"first-disk", "from disk, first of a process", ""},
    {"disk", "from disk", "2 ms"},
    {"memory", "from memory", "10 us"},
};

// The GPU here, or the one that is written down.
class Planner {
  public:
    Planner() {
        const double begin = monotonic_seconds();
        std::string why;
        const auto devices = list_devices(why);
        if (devices.empty()) {
            if (load_driver(ASSAY_STAND_IN_DRIVER) == nullptr) throw Error(dlerror());
            absent_ = absent_device();
            target_ = {nullptr, &*absent_, 90};
            name_ = "an H200 that isn't here (" + why + ")";
        } else {
            device_ = std::make_unique<CudaDevice>(devices.front());
            name_ = device_->facts().name;
            opened_ = monotonic_seconds();
            target_ = {Cudnn::instance().handle(), nullptr, capability(device_->facts())};
        }
        opening_s_ = monotonic_seconds() - std::max(begin, opened_);
    }

    const std::string& name() const { return name_; }
    double opening_s() const { return opening_s_; }
    FoundPlan find(CudnnPlans& plans, const CudnnGraph& graph) const {
        return plans.find(graph, target_, name_);
    }

  private:
    std::unique_ptr<CudaDevice> device_;
    std::optional<CudnnDescriptor> absent_;
    CudnnTarget target_;
    std::string name_;
    double opened_ = 0, opening_s_ = 0;
};

CudnnGraph graph_of(std::string_view mask, std::int64_t rows, AttentionPass pass) {
    const AttentionShape shape{.batch = 2,
                               .heads = 16,
                               .kv_heads = 16,
                               .queries = rows,
                               .keys = rows,
                               .dim = 128,
                               .value_dim = 128};
    const auto p = attention(shape, mask);
    return cudnn_attention_graph(p, cudnn_entries(p, pass), pass, ScratchSize::by_token);
}

constexpr std::string_view kMasks[] = {"full", "causal", "causal+window:1024",
                                       "causal+document:even:8"};
constexpr std::int64_t kRows = 4096, kOtherRows[] = {2048, 3072};

// Every plan of one pass: of each mask, then of other sizes of each.
std::vector<CudnnGraph> graphs_of(AttentionPass pass) {
    std::vector<CudnnGraph> graphs;
    for (const auto mask : kMasks) graphs.push_back(graph_of(mask, kRows, pass));
    for (const auto rows : kOtherRows) {
        for (const auto mask : kMasks) graphs.push_back(graph_of(mask, rows, pass));
    }
    return graphs;
}

// A line that the parent reads.
void tell(std::FILE* to, std::string_view kind, double seconds) {
    fmt::print(to, "{} {:.9f}\n", kind, seconds);
}

// Not where it came from elsewhere: a plan that can't be written down is built each time.
void tell(std::FILE* to, std::string_view kind, const FoundPlan& found, PlanSource wanted) {
    if (found.source == wanted) {
        tell(to, kind, found.seconds);
    } else {
        fmt::print(stderr, "{}: {}\n", kind, describe(found));
    }
}

void plan_anew(AttentionPass pass, const std::filesystem::path& folder, std::FILE* to) {
    const Planner planner;
    const CudnnPlanCache cache(folder);
    CudnnPlans plans(cache);
    fmt::print(to, "about cuDNN {} ({}) on {}\n", Cudnn::instance().version(),
               Cudnn::instance().file(), planner.name());
    tell(to, "open", planner.opening_s());
    const auto graphs = graphs_of(pass);
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        const auto* kind = i == 0 ? "first" : i < std::size(kMasks) ? "mask" : "size";
        tell(to, kind, planner.find(plans, graphs[i]), PlanSource::built);
    }
    for (int i = 0; i < kTables; ++i) {
        CudnnPlans fresh(cache);
        for (const auto& graph : graphs) {
            tell(to, "disk", planner.find(fresh, graph), PlanSource::disk);
        }
    }
    for (int i = 0; i < kLookUps; ++i) {
        for (const auto& graph : graphs) {
            tell(to, "memory", planner.find(plans, graph), PlanSource::memory);
        }
    }
}

void read_back(AttentionPass pass, const std::filesystem::path& folder, std::FILE* to) {
    const Planner planner;
    CudnnPlans plans{CudnnPlanCache(folder)};
    const auto found = planner.find(plans, graph_of(kMasks[0], kRows, pass));
    tell(to, "first-disk", found, PlanSource::disk);
}

struct Times {
    std::map<std::string, std::vector<double>> by_kind;
    std::string about;
};

// `work` in a process of its own: what a library has loaded stays loaded. The parent opens none, as
// a device isn't a child's to use that was opened before it began.
template <class Work>
void in_process(Times& times, Work work) {
    int ends[2];
    if (::pipe(ends) != 0) throw Error("no pipe");
    std::fflush(nullptr);
    const auto child = ::fork();
    if (child < 0) throw Error("no process");
    if (child == 0) {
        ::close(ends[0]);
        auto* to = ::fdopen(ends[1], "w");
        int status = EXIT_SUCCESS;
        try {
            work(to);
        } catch (const std::exception& error) {
            fmt::print(stderr, "bench_cudnn_plans: {}\n", error.what());
            status = EXIT_FAILURE;
        }
        std::fflush(to);
        ::_exit(status);
    }
    ::close(ends[1]);
    auto* from = ::fdopen(ends[0], "r");
    char line[4096];
    while (std::fgets(line, sizeof line, from) != nullptr) {
        std::string text(line);
        text.pop_back();
        const auto space = text.find(' ');
        const auto kind = text.substr(0, space), rest = text.substr(space + 1);
        if (kind == "about") {
            times.about = rest;
        } else {
            times.by_kind[kind].push_back(parse_number(rest, "a time"));
        }
    }
    std::fclose(from);
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) {
        throw Error("a process failed", "its reason is above");
    }
}

void print_rows(AttentionPass pass, Times& times) {
    for (const auto& kind : kKinds) {
        const auto& seconds = times.by_kind[kind.name];
        if (seconds.empty()) continue;
        fmt::print("| {} | {} | {} | {} | {} | {} |\n", work::name(pass), kind.text,
                   format_seconds(stats::median(seconds)),
                   format_seconds(*std::ranges::max_element(seconds)), seconds.size(), kind.aim);
    }
}

void measure(double limit_s) {
    const double begin = monotonic_seconds();
    std::map<AttentionPass, Times> times;
    // Rounds of both passes, as many as fit.
    double longest = 0;
    for (double start = begin; start + longest < begin + limit_s;) {
        for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
            const Scratch scratch;
            auto& of_pass = times[pass];
            in_process(of_pass, [&](auto* to) { plan_anew(pass, scratch.path(), to); });
            in_process(of_pass, [&](auto* to) { read_back(pass, scratch.path(), to); });
        }
        const double end = monotonic_seconds();
        longest = std::max(longest, end - start);
        start = end;
    }
    fmt::print("{}, assay {} ({}), {}.\n\n", utc_now(), version(), build(),
               times[AttentionPass::forward].about);
    fmt::print("| pass | plan | median | largest | of | aim |\n|---|---|---|---|---|---|\n");
    for (auto& [pass, of_pass] : times) print_rows(pass, of_pass);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        measure(argc > 1 ? parse_seconds(argv[1]) : 35);
    } catch (const Error& error) {
        fmt::print(stderr, "bench_cudnn_plans: {}\n                   {}\n", error.what(),
                   error.hint());
        return kExitFailed;
    }
}
