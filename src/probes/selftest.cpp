#include "probes/selftest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "base/time.h"
#include "measure/calibrate.h"
#include "measure/sampler.h"
#include "measure/stream_subject.h"
#include "ops/fill.h"
#include "ops/matmul.h"
#include "ops/memory.h"
#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"
#include "probes/sampled.h"
#include "stats/interval.h"
#include "stats/ratio.h"

namespace assay::probes {

namespace {

constexpr int kRounds = 101;
// What linearity must hold: eight calls take eight times as long as one, within this part.
constexpr double kLinearityTolerance = 0.03;
// A timer that isn't linear is so each time it is asked; a neighbour on a shared machine isn't.
constexpr int kLinearityTries = 3;
constexpr double kSecondsBetweenTries = 1;
constexpr std::uint64_t kKernelBytes = std::uint64_t{256} << 10;
constexpr const char* kPasses = "passes";

record::Launch new_launch() {
    record::Launch launch;
    launch.pid = ::getpid();
    launch.started = utc_now();
    return launch;
}

// A call that the timer sees as well as the sampler has it see a sample, and whose start is a small
// part of it: a 256 KiB kernel, gone over as often as that takes. A single pass is no longer than
// waking a CPU's cores, or than recording a GPU's event.
class TimedCall {
  public:
    TimedCall(device::Device& device, const ops::MemoryOperands& arrays) {
        constexpr int kMostPasses = 1 << 14;
        auto& memory = device.need<ops::Memory>();
        passes_ = static_cast<int>(
            std::clamp<std::uint64_t>(memory.least_bytes() / kKernelBytes, 1, kMostPasses));
        for (;;) {
            kernel_ = memory.prepare(
                {work::MemoryOp::scale, kKernelBytes, true, device::kAnyNode, passes_});
            subject_ = std::make_unique<measure::StreamSubject>(
                "work", device,
                [this, arrays](device::Stream& s, std::size_t) { kernel_->enqueue(s, arrays); });
            std::array<double, 6> times{};
            subject_->run(times, 1);
            // The first pays for what is made on first use, others for being interrupted.
            const double seconds = *std::min_element(times.begin() + 1, times.end());
            const double wanted = measure::kTicksPerSample * subject_->resolution();
            if (seconds >= wanted || passes_ >= kMostPasses) return;
            const double more = seconds > 0 ? std::ceil(1.1 * wanted / seconds) : 2;
            passes_ = static_cast<int>(std::clamp(passes_ * more, 2.0, 1.0 * kMostPasses));
        }
    }
    measure::StreamSubject& subject() { return *subject_; }
    const ops::Implementation& implementation() const { return kernel_->implementation(); }
    int passes() const { return passes_; }

  private:
    int passes_ = 1;
    std::unique_ptr<ops::PreparedMemory> kernel_;
    std::unique_ptr<measure::StreamSubject> subject_;
};

// That call timed eight times by itself, then two, four and eight at a time, round by round. The
// eight single times are added up: what a neighbour takes from the machine, it takes from that sum
// as from eight at a time.
void test_timer(Bench& bench, record::Result& result) {
    auto& device = bench.device;
    const auto a = device.allocate(kKernelBytes);
    const auto c = device.allocate(kKernelBytes);
    const auto stream = device.create_stream();
    device.need<ops::Fill>().enqueue(*stream, {}, work::Type::fp32, kKernelBytes / 4, a->data());
    stream->synchronize();
    TimedCall call(device, {a->data(), nullptr, c->data()});
    describe(call.implementation(), bench, result);
    result.conditions.settings[kPasses] = std::to_string(call.passes());
    auto& work = call.subject();
    measure::StreamSubject nothing("nothing", device, [](device::Stream&, std::size_t) {});

    auto launch = new_launch();
    launch.samples["resolution"] = {"s", {work.resolution()}};
    const auto sample = [&](const std::string& name, double seconds) {
        auto& samples = launch.samples[name];
        samples.unit = "s";
        samples.values.push_back(seconds);
    };
    const auto timed = [&](int calls) {
        double seconds = 0;
        work.run({&seconds, 1}, calls);
        sample(fmt::format("{} calls", calls), seconds * calls);
        return seconds * calls;
    };
    bool off = true;
    for (int attempt = 1; off && attempt <= kLinearityTries; ++attempt) {
        if (attempt > 1) bench.clock.sleep(kSecondsBetweenTries);
        std::vector<double> singly, together;
        for (int round = 0; round < kRounds; ++round) {
            double seconds = 0;
            nothing.run({&seconds, 1}, 1);
            sample("bias", seconds);
            seconds = 0;
            for (int i = 0; i < 8; ++i) seconds += timed(1);
            singly.push_back(seconds);
            timed(2);
            timed(4);
            together.push_back(timed(8));
        }
        const auto ratio = stats::ratio_of_rounds(singly, together);
        // Noise widens the interval; only what is surely off is a fault of the timer.
        off = ratio.interval.lo > 1 + kLinearityTolerance ||
              ratio.interval.hi < 1 - kLinearityTolerance;
        if (off && attempt < kLinearityTries) continue;
        result.checks.push_back(
            {"timer is linear", !off,
             fmt::format("8 calls take {:.4f} ({:.4f} to {:.4f}) times as long as 8 single ones{}",
                         ratio.value, ratio.interval.lo, ratio.interval.hi,
                         attempt > 1 ? fmt::format(", at try {}", attempt) : "")});
    }
    result.launches.push_back(std::move(launch));
}

// The checker must pass a right product and find one wrong element.
void test_checker(Bench& bench, record::Result& result) {
    MatmulCase matmul;
    matmul.problem = {67,
                      45,
                      129,
                      1,
                      work::Type::fp32,
                      work::Type::fp32,
                      work::Type::fp32,
                      work::Layout::nn,
                      work::Epilogue::none};
    matmul.cache = CacheState::hot;
    auto& device = bench.device;
    const auto prepared = device.need<ops::Matmul>().prepare(matmul.problem);
    describe(prepared->implementation(), bench, result);
    const RotatingOperands operands(device, matmul, bench.seed);
    const auto stream = device.create_stream();
    prepared->enqueue(*stream, operands.set(0));
    stream->synchronize();
    const auto right = check_matmul(device, matmul, operands.set(0), bench.seed);
    result.checks.push_back({"right product passes", right.passed, right.detail});

    float element = 0;
    device.copy_out(&element, operands.set(0).c, sizeof element);
    element += 0.01F * std::max(1.0F, std::abs(element));
    device.copy_in(operands.set(0).c, &element, sizeof element);
    const auto wrong = check_matmul(device, matmul, operands.set(0), bench.seed);
    result.checks.push_back({"planted error of 1 % is found", !wrong.passed, wrong.detail});
}

// The device's filler must give the host's bits, of every type and distribution, with a seed that
// fills both of its words.
void test_filler(Bench& bench, record::Result& result) {
    constexpr std::uint64_t kElements = 100'003;
    auto& device = bench.device;
    auto& filler = device.need<ops::Fill>();
    const auto stream = device.create_stream();
    for (const auto type : work::all_types()) {
        for (const auto distribution : work::all_distributions()) {
            const work::FillSpec spec{distribution, bench.seed ^ 0x9e3779b97f4a7c15U, 7};
            const std::size_t bytes = kElements * work::size_of(type);
            const auto buffer = device.allocate(bytes);
            filler.enqueue(*stream, spec, type, kElements, buffer->data());
            stream->synchronize();
            std::vector<std::byte> got(bytes), want(bytes);
            device.copy_out(got.data(), buffer->data(), bytes);
            work::fill(spec, type, 0, kElements, want.data());
            result.checks.push_back(
                {fmt::format("fill {} {}", work::name(type), work::name(distribution)), got == want,
                 fmt::format("{} elements bit for bit", kElements)});
        }
    }
}

// Sampling a subject that does nothing costs what sampling itself costs.
void test_sampler(Bench& bench, record::Result& result) {
    class Nothing final : public measure::Subject {
      public:
        std::string name() const override { return "nothing"; }
        void run(std::span<double> seconds, int) override {
            for (auto& s : seconds) s = 1e-3 + 1e-7 * static_cast<double>(calls_++ % 17);
        }
        double resolution() const override { return 1e-8; }

      private:
        std::uint64_t calls_ = 0;
    };
    auto protocol = measure::sustained();
    protocol.settle = false;
    protocol.warmup_s = 0;
    protocol.target_half_width = 0;  // so that every sample is taken
    Nothing nothing;
    auto launch = new_launch();
    auto& cost = launch.samples["sampler"];
    cost.unit = "s";
    for (int round = 0; round < 21; ++round) {
        measure::Sampler sampler(bench.clock, nullptr, protocol);
        const double start = bench.clock.now();
        const auto sampling = sampler.sample(nothing);
        cost.values.push_back((bench.clock.now() - start) /
                              static_cast<double>(sampling.seconds.size()));
    }
    result.launches.push_back(std::move(launch));
}

using Test = void (*)(Bench&, record::Result&);
struct NamedTest {
    const char* name;
    Test run;
};
constexpr std::array<NamedTest, 4> kTests{{{"timer", test_timer},
                                           {"checker", test_checker},
                                           {"filler", test_filler},
                                           {"sampler", test_sampler}}};

}  // namespace

std::string SelftestProbe::summary() const {
    return "the timer's bias and linearity, the sampler's cost, whether the checker finds errors";
}

std::vector<std::string> SelftestProbe::examples() const {
    return {"assay selftest"};
}

std::vector<OptionSpec> SelftestProbe::options() const {
    return {};
}

std::vector<record::Case> SelftestProbe::expand(const Options&, const record::DeviceFacts&) const {
    std::vector<record::Case> cases;
    for (const auto& test : kTests) cases.push_back(record::Case().set("test", test.name));
    return cases;
}

void SelftestProbe::run(const record::Case& what, Bench& bench, record::Result& result) const {
    for (const auto& test : kTests) {
        if (what.at("test") == test.name) return test.run(bench, result);
    }
    std::vector<std::string> known;
    for (const auto& test : kTests) known.emplace_back(test.name);
    throw_unknown("test", what.at("test"), known);
}

std::vector<record::Metric> SelftestProbe::metrics(const record::Result& result) const {
    std::vector<record::Metric> metrics;
    const auto add = [&](const char* sample, const char* name, const std::string& definition) {
        std::vector<double> values;
        for (const auto& launch : result.launches) {
            const auto found = launch.samples.find(sample);
            if (found == launch.samples.end()) continue;
            values.insert(values.end(), found->second.values.begin(), found->second.values.end());
        }
        if (values.empty()) return;
        const auto estimate = stats::estimate_median(values);
        metrics.push_back({name, "s", record::Better::lower, definition, estimate.median,
                           std::pair{estimate.interval.lo, estimate.interval.hi}, estimate.n,
                           estimate.effective_n, std::nullopt, std::nullopt});
    };
    add("resolution", "timer resolution", "smallest difference of two times the timer gives");
    add("bias", "timer bias", "time read for a call that does nothing");
    const auto passes = result.conditions.settings.find(kPasses);
    if (passes != result.conditions.settings.end()) {
        add("1 calls", "one call",
            "a 256 KiB scale kernel of " + passes->second + " passes, timed by itself");
    }
    add("sampler", "sampler cost", "host time of a sample beyond the work");
    return metrics;
}

}  // namespace assay::probes
