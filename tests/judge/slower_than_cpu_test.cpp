// The finding from measurement to message, on a fake host.
#include <gmock/gmock.h>

#include "judge/rule.h"
#include "probes/attention.h"
#include "probes/attention_cases.h"
#include "probes/hosted_bench.h"

namespace assay::judge {
namespace {

using testing::Contains;
using testing::Field;
using testing::Not;
using testing::StrEq;

// Where a call takes the accelerator 1 ms.
std::vector<record::Finding> findings_where_the_cpu_takes(double seconds) {
    const probes::AttentionProbe probe;
    probes::HostedBench bench;
    bench.cpu.script.seconds = [seconds](std::size_t, double) { return seconds; };
    auto what = probes::to_case(probes::small_attention("causal"));
    what.set("against_cpu", "yes", "yes");
    record::Run run;
    run.results.push_back(bench.run(probe, what));
    EXPECT_NE(run.results[0].metric("speed-up over this host's CPU"), nullptr);
    return find(gather(run));
}

TEST(SlowerThanCpuFinding, ComesWhereTheCpuIsFaster) {
    const auto is_it = Field(&record::Finding::rule, StrEq("slower-than-cpu"));
    EXPECT_THAT(findings_where_the_cpu_takes(0.5e-3), Contains(is_it));
    EXPECT_THAT(findings_where_the_cpu_takes(1e-3), Not(Contains(is_it)));
    EXPECT_THAT(findings_where_the_cpu_takes(20e-3), Not(Contains(is_it)));
}

}  // namespace
}  // namespace assay::judge
