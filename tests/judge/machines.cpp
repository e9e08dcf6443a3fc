#include "judge/machines.h"

#include <stdexcept>

#include "catalog/devices.h"

namespace assay::judge {

namespace {

record::DeviceFacts epyc() {
    record::DeviceFacts facts;
    facts.id = facts.kind = "cpu";
    facts.name = "AMD EPYC 9354 32-Core Processor";
    facts.vendor = "AuthenticAMD";
    facts.compute_units = facts.compute_units_total = 32;
    facts.memory_bytes = std::uint64_t{384} << 30;
    facts.last_level_cache_bytes = std::uint64_t{256} << 20;
    facts.max_clock_mhz = 3800;
    facts.max_clock_source = "cpufreq";
    facts.features = {"avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16"};
    facts.facts = {{"family", "25"},  {"model", "17"},           {"stepping", "1"},
                   {"packages", "1"}, {"memory_channels", "12"}, {"memory_speed_mts", "4800"}};
    return facts;
}

record::Metric rate(const std::string& name, const std::string& unit, double value) {
    return {.name = name,
            .unit = unit,
            .better = record::Better::higher,
            .definition = "scripted",
            .value = value,
            .interval = std::pair{0.997 * value, 1.003 * value},
            .n = 400,
            .effective_n = 250.0,
            .steady = true,
            .trustworthy = true};
}

record::Result measured_case(const std::string& probe, record::Case what) {
    record::Result result;
    result.probe = probe;
    result.device = "cpu";
    result.what = std::move(what);
    result.path = record::Path::fast;
    result.conditions.protocol = "boost";
    result.conditions.library = probe == "gemm" ? "oneDNN" : "assay";
    result.conditions.algorithm = probe == "gemm" ? "brgemm:avx512_core" : "avx512";
    result.conditions.clock_mhz = 3600;
    result.conditions.clock_source = "perf: cycles over task-clock";
    result.conditions.power_w = 240;
    result.conditions.power_source = "RAPL";
    result.conditions.stop_reason = "precise";
    result.conditions.threads = 32;
    record::Launch launch;
    launch.pid = 4711;
    launch.started = "2026-11-30T12:00:00Z";
    result.launches = {launch};
    result.checks = {{"answer", true, "as the reference"}};
    return result;
}

record::Result product(const std::string& type, double tflops) {
    record::Case what;
    what.set("m", 1024).set("n", 1024).set("k", 1024).set("dtype", type);
    auto result = measured_case("gemm", std::move(what));
    auto& telemetry = result.launches[0].telemetry;
    telemetry["t"] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
    telemetry["clock_mhz"] = {3610, 3600, 3600, 3600, 3590, 3600, 3600, 3600};
    telemetry["throttled_count"] = {5, 5, 5, 5, 5, 5, 5, 5};
    result.metrics = {rate("throughput", "TFLOP/s", tflops)};
    return result;
}

record::Result memory(const std::string& op, const std::string& size, std::uint64_t bytes,
                      double rate_gbs) {
    record::Case what;
    what.set("op", op).set("size", size).set("nodes", "local", "local");
    auto result = measured_case("memory", std::move(what));
    result.conditions.footprint_bytes = bytes;
    result.metrics = {rate("bandwidth", "GB/s", rate_gbs)};
    return result;
}

record::Result selftest() {
    record::Case what;
    what.set("test", "timer");
    auto result = measured_case("selftest", std::move(what));
    result.conditions = {};
    result.checks = {{"timer is linear", true, "8 calls take 1.0012 times as long as 8 single"}};
    return result;
}

// The same value, as slow as it is, without an interval that no longer holds it.
void scale(record::Metric& metric, double factor) {
    metric.value *= factor;
    metric.interval.reset();
}

void fail_check(record::Result& result, const std::string& detail) {
    result.status = record::Status::failed;
    result.checks = {{"answer", false, detail}};
    result.reason = "answer: " + detail;
    result.metrics.clear();
}

record::Run throttled() {
    auto run = good_machine();
    for (const auto* type : {"fp32", "bf16", "int8"}) {
        auto& result = result_of(run, "gemm", type);
        result.conditions.clock_mhz = 2000;
        result.conditions.throttle_reasons = {"package temperature"};
        scale(result.metrics[0], 0.55);
        auto& telemetry = result.launches[0].telemetry;
        telemetry["clock_mhz"] = {3600, 3600, 3000, 2400, 2000, 2000, 2000, 2000};
        telemetry["throttled_count"] = {5, 5, 6, 9, 14, 20, 27, 31};
    }
    return run;
}

record::Run half_memory_channels() {
    auto run = good_machine();
    run.provenance.devices[0].facts["memory_channels"] = "6";
    for (auto& result : run.results) {
        if (result.probe == "memory" && result.what.at("size") == "1G") {
            scale(result.metrics[0], 0.5);
        }
    }
    return run;
}

record::Run wrong_answers() {
    auto run = good_machine();
    fail_check(result_of(run, "gemm", "bf16"),
               "element (17, 4) of product 0 is 12.5, expected 12.4375 +- 0.031");
    fail_check(result_of(run, "memory", "copy"), "element 65536 of copy is 0, expected -0.77");
    return run;
}

record::Run unknown_processor() {
    auto run = good_machine();
    auto& facts = run.provenance.devices[0];
    facts.name = "Future Processor 1";
    facts.vendor = "GenuineFuture";
    facts.max_clock_mhz.reset();
    facts.max_clock_source = "unavailable: no cpufreq";
    facts.facts = {{"family", "99"}, {"model", "7"}};
    for (auto& result : run.results) {
        if (result.probe == "selftest") continue;
        result.conditions.clock_mhz.reset();
        result.conditions.clock_source = "unavailable: perf_event_paranoid is 3";
        result.conditions.power_w.reset();
        result.conditions.power_source = "unavailable: no RAPL";
        result.launches[0].telemetry.clear();
    }
    return run;
}

record::Run everything_skipped() {
    auto run = good_machine();
    run.state = record::RunState::failed;
    for (auto& result : run.results) {
        if (result.probe == "selftest") continue;
        const bool product = result.probe == "gemm";
        result.status = record::Status::skipped;
        result.reason = product ? "oneDNN: libdnnl.so.2 can't be opened"
                                : "the arrays need 2.00 GiB, and 512 MiB of cpu are free";
        result.path = record::Path::unknown;
        result.conditions = {};
        result.conditions.protocol = "boost";
        result.launches.clear();
        result.metrics.clear();
        result.checks.clear();
    }
    return run;
}

// One product under one protocol; times as the rate says, clocks beside them.
record::Result gpu_product(const std::string& type, const std::string& protocol, double tflops,
                           double mhz, double watts) {
    record::Case what;
    what.set("m", 8192).set("n", 8192).set("k", 8192).set("dtype", type);
    what.set("inputs", "normal", "normal");
    auto result = measured_case("gemm", std::move(what));
    result.device = "cuda:0";
    auto& conditions = result.conditions;
    conditions.protocol = protocol;
    conditions.library = "cuBLASLt";
    conditions.algorithm = "heuristic";
    conditions.clock_mhz = mhz;
    conditions.clock_source = "stamps: clock64 over globaltimer";
    conditions.power_w = watts;
    conditions.power_source = "NVML";
    conditions.settings["power_limit_w"] = "700";
    conditions.threads = 0;
    conditions.footprint_bytes = std::uint64_t{400} << 20;
    if (protocol == "sustained") conditions.throttle_reasons = {"SW power cap"};
    result.launches[0].samples["time"] = {
        "s", std::vector<double>(8, 2.0 * 8192 * 8192 * 8192 / tflops / 1e12)};
    result.launches[0].samples["clock_mhz"] = {"MHz", std::vector<double>(8, mhz)};
    result.metrics = {rate("throughput", "TFLOP/s", tflops)};
    return result;
}

record::Result gpu_memory(const std::string& op, double gbs) {
    auto result = memory(op, "4G", std::uint64_t{8} << 30, gbs);
    result.device = "cuda:0";
    result.conditions.clock_mhz = 1980;
    result.conditions.clock_source = result.conditions.power_source = "NVML";
    result.conditions.threads = 0;
    return result;
}

}  // namespace

record::Run h200_machine() {
    auto run = good_machine();
    run.provenance.devices = {catalog::h200()};
    run.results = {gpu_product("bf16", "boost", 800, 1770, 520),
                   gpu_product("bf16", "sustained", 684, 1495, 698),
                   gpu_product("fp8_e4m3fn", "boost", 1400, 1700, 560),
                   gpu_product("fp8_e4m3fn", "sustained", 1260, 1540, 699),
                   gpu_memory("read", 4640),
                   gpu_memory("copy", 4190)};
    return run;
}

record::Run good_machine() {
    record::Run run;
    run.id = "01JDXK4T0000000000000000GD";
    run.state = record::RunState::complete;
    run.started = "2026-11-30T12:00:00Z";
    run.ended = "2026-11-30T12:01:00Z";
    run.command = {"assay", "run", "--suite", "quick"};
    run.suite = "quick";
    run.provenance.host = "scripted";
    run.provenance.devices = {epyc()};
    constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
    run.results = {selftest(),
                   product("fp32", 3.2),
                   product("bf16", 6.1),
                   product("int8", 12.0),
                   memory("read", "1M", kMiB, 2900),
                   memory("read", "1G", 1024 * kMiB, 385),
                   memory("copy", "1G", 2048 * kMiB, 352),
                   memory("triad", "1G", 3072 * kMiB, 361)};
    return run;
}

const std::vector<Machine>& machines() {
    static const std::vector<Machine> kAll{{"good", good_machine},
                                           {"throttled", throttled},
                                           {"half_memory_channels", half_memory_channels},
                                           {"wrong_answers", wrong_answers},
                                           {"unknown_processor", unknown_processor},
                                           {"everything_skipped", everything_skipped},
                                           {"h200", h200_machine}};
    return kAll;
}

record::Result& result_of(record::Run& run, const std::string& probe, const std::string& kind) {
    const std::string pair = probe == "gemm" ? "dtype" : probe == "memory" ? "op" : "test";
    for (auto& result : run.results) {
        if (result.probe == probe && result.what.at(pair) == kind) return result;
    }
    throw std::logic_error("no " + probe + " " + kind);
}

}  // namespace assay::judge
