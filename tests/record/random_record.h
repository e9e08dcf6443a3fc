// Records with every field filled at random, odd values included, for property tests.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "record/run.h"

namespace assay::record {

class RandomRecord {
  public:
    explicit RandomRecord(std::uint64_t seed, bool with_nan = true)
        : engine_(seed), with_nan_(with_nan) {}

    Run run(std::size_t results) {
        Run run;
        run.id = new_run_id();
        run.state = word<RunState>(3);
        run.started = time();
        run.ended = coin() ? time() : "";
        run.command = texts();
        run.suite = text();
        run.provenance = provenance();
        for (std::size_t i = 0; i < results; ++i) run.results.push_back(result());
        fill(run.findings, [&] {
            return Finding{text(), word<Severity>(3), text(), texts(), text()};
        });
        return run;
    }

    Result result() {
        Result result;
        result.probe = text();
        result.device = text();
        result.what = some_case();
        result.status = word<Status>(3);
        result.reason = text();
        result.path = word<Path>(5);
        result.conditions = conditions();
        fill(result.launches, [&] { return launch(); });
        fill(result.metrics, [&] { return metric(); });
        fill(result.series, [&] { return Series{text(), text(), text(), numbers(), numbers()}; });
        fill(result.checks, [&] { return Check{text(), coin(), text()}; });
        return result;
    }

    Case some_case() {
        Case what;
        for (auto n = below(6); n > 0; --n) {
            const std::string value = text();
            if (coin()) {
                what.set(text(), value, value);
            } else {
                what.set(text(), value);
            }
        }
        return what;
    }

    Provenance provenance() {
        Provenance provenance{.host = text(),
                              .system = text(),
                              .container = text(),
                              .program_version = text(),
                              .program_build = text(),
                              .devices = {},
                              .software = {},
                              .settings = settings()};
        fill(provenance.devices, [&] { return device(); });
        fill(provenance.software, [&] { return SoftwareFacts{text(), text(), text(), text()}; });
        return provenance;
    }

    DeviceFacts device() {
        DeviceFacts facts;
        facts.id = text();
        facts.kind = text();
        facts.name = text();
        facts.vendor = text();
        facts.unique_id = text();
        facts.compute_units = small();
        facts.compute_units_total = small();
        facts.memory_bytes = count();
        fill(facts.caches, [&] { return CacheFacts{small(), count(), small()}; });
        fill(facts.nodes, [&] { return NodeFacts{small(), count(), small()}; });
        facts.last_level_cache_bytes = count();
        maybe(facts.max_clock_mhz);
        facts.max_clock_source = text();
        facts.virtual_machine = coin();
        facts.features = texts();
        facts.facts = settings();
        return facts;
    }

  private:
    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    bool coin() { return below(2) == 0; }
    int small() { return static_cast<int>(below(1 << 20)); }

    template <typename Enum>
    Enum word(std::uint64_t how_many) {
        return static_cast<Enum>(below(how_many));
    }

    std::uint64_t count() {
        constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
        const std::array<std::uint64_t, 7> odd = {
            0, 1, kExact - 1, kExact, kExact + 1, std::numeric_limits<std::uint64_t>::max(), 4096};
        return coin() ? odd.at(below(odd.size())) : engine_();
    }

    double number() {
        if (coin()) {
            const std::array<double, 8> odd = {
                0.0,
                -0.0,
                1.0 / 3,
                5e-324,
                std::numeric_limits<double>::max(),
                9007199254740994.0,
                -1.0,
                with_nan_ ? std::numeric_limits<double>::quiet_NaN() : 0.1};
            return odd.at(below(odd.size()));
        }
        double value = 0;
        const std::uint64_t bits = engine_();
        std::memcpy(&value, &bits, sizeof value);
        return std::isfinite(value) ? value : 1e-9;
    }

    std::string text() {
        const std::array<std::string, 14> odd = {"",
                                                 " ",
                                                 "a b",
                                                 "a=b",
                                                 "\"",
                                                 "\\",
                                                 "\\x20",
                                                 "line\nbreak",
                                                 "\x01\x7f",
                                                 std::string(1, '\0'),
                                                 "null",
                                                 "5",
                                                 "\u00b5s \u65e5\u672c \U0001F642",
                                                 "]}"};
        std::string text = coin() ? odd.at(below(odd.size())) : "";
        for (auto n = below(6); n > 0; --n) text += static_cast<char>('a' + below(26));
        return text;
    }

    std::string time() { return "2026-11-30T22:11:0" + std::to_string(below(10)) + "Z"; }

    std::vector<std::string> texts() {
        std::vector<std::string> list;
        fill(list, [&] { return text(); });
        return list;
    }

    std::vector<double> numbers() {
        std::vector<double> list;
        fill(list, [&] { return number(); });
        return list;
    }

    std::map<std::string, std::string> settings() {
        std::map<std::string, std::string> map;
        for (auto n = below(4); n > 0; --n) map[text()] = text();
        return map;
    }

    void maybe(std::optional<double>& value) {
        if (coin()) value = number();
    }
    void maybe(std::optional<bool>& value) {
        if (coin()) value = coin();
    }

    template <typename T, typename Make>
    void fill(std::vector<T>& list, Make make) {
        for (auto n = below(4); n > 0; --n) list.push_back(make());
    }

    Conditions conditions() {
        Conditions conditions;
        conditions.protocol = text();
        conditions.library = text();
        conditions.library_file = text();
        conditions.library_version = text();
        conditions.algorithm = text();
        conditions.workspace_bytes = count();
        maybe(conditions.clock_mhz);
        conditions.clock_source = text();
        maybe(conditions.power_w);
        conditions.power_source = text();
        maybe(conditions.energy_per_call_j);
        maybe(conditions.temperature_c);
        conditions.throttle_reasons = texts();
        conditions.calls_per_sample = small();
        conditions.stop_reason = text();
        maybe(conditions.settled);
        maybe(conditions.settle_s);
        conditions.footprint_bytes = count();
        conditions.operand_sets = small();
        conditions.threads = small();
        conditions.settings = settings();
        return conditions;
    }

    Launch launch() {
        Launch launch;
        launch.index = small();
        launch.pid = small();
        launch.started = time();
        for (auto n = below(3); n > 0; --n) launch.samples[text()] = Samples{text(), numbers()};
        for (auto n = below(3); n > 0; --n) launch.telemetry[text()] = numbers();
        return launch;
    }

    Metric metric() {
        Metric metric;
        metric.name = text();
        metric.unit = text();
        metric.better = word<Better>(3);
        metric.definition = text();
        metric.value = number();
        if (coin()) metric.interval.emplace(number(), number());
        metric.n = count();
        maybe(metric.effective_n);
        maybe(metric.steady);
        maybe(metric.trustworthy);
        return metric;
    }

    std::mt19937_64 engine_;
    bool with_nan_;
};

}  // namespace assay::record
