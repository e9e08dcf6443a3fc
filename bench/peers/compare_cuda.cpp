// Compares assay's products and memory kernels on a GPU with torch's, interleaved round by round in
// one power state, and prints a table in Markdown for docs/results.md.
//
// torch's reductions of parts of a split K are kept in fp32, as ours are. Rows of fp8 and bf16
// whose name is "tuned" ran the algorithm that a search under the sustained protocol chose before.
//
//   bench_cuda_peers [SECONDS a row [memory|products]]
#include <algorithm>

#include <fmt/format.h>

#include "alternating.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "base/version.h"
#include "device/loader.h"
#include "measure/stream_subject.h"
#include "measure/tune.h"
#include "ops/fill.h"
#include "ops/memory.h"
#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"
#include "work/shapes.h"

namespace {

using namespace assay;
using bench::alternate;
using bench::attempt;
using bench::median_of;
using bench::print_row;
using bench::Torch;

constexpr double kTuning = 2.5;  // s a product

// One product of ours: its operands, the library's own choice and the tuned one.
class Ours {
  public:
    Ours(device::Device& device, const work::Matmul& problem)
        : device_(device),
          matmul_(cold(problem)),
          operands_(device, matmul_, 0),
          checker_(matmul_, 0) {
        auto& op = device.need<ops::Matmul>();
        heuristic_ = op.prepare(problem);
        chosen_ = subject("heuristic", *heuristic_);
    }

    measure::Subject& heuristic() { return *chosen_; }
    const std::string& algorithm() const { return tuned_->implementation().algorithm; }
    int sets() const { return operands_.sets(); }

    // The fastest under the sustained protocol.
    measure::Subject& tuned() {
        auto& op = device_.need<ops::Matmul>();
        const auto algorithms = op.algorithms(matmul_.problem, 32);
        std::vector<std::unique_ptr<ops::PreparedMatmul>> prepared(algorithms.size());
        measure::SteadyClock clock;
        const auto open = [&](std::size_t i) -> std::unique_ptr<measure::Subject> {
            prepared[i] = op.prepare(matmul_.problem, {"", algorithms[i]});
            return subject(algorithms[i], *prepared[i]);
        };
        const auto tuning = measure::tune(algorithms.size(), open, clock, measure::sustained(),
                                          {.budget_s = kTuning});
        tuned_ = op.prepare(matmul_.problem, {"", algorithms.at(tuning.winner)});
        const auto check = checker_.check(device_, run_once(*tuned_));
        if (!check.passed) throw Error("the winner's answer is wrong: " + check.detail);
        best_ = subject("tuned", *tuned_);
        return *best_;
    }

  private:
    // So that its answer can be looked at.
    ops::MatmulOperands run_once(ops::PreparedMatmul& matmul) {
        const auto stream = device_.create_stream();
        checker_.poison(device_, operands_.set(0));
        matmul.enqueue(*stream, operands_.set(0));
        stream->synchronize();
        return operands_.set(0);
    }
    static probes::MatmulCase cold(const work::Matmul& problem) {
        probes::MatmulCase matmul;
        matmul.problem = problem;
        return matmul;
    }
    std::unique_ptr<measure::StreamSubject> subject(const std::string& name,
                                                    ops::PreparedMatmul& matmul) {
        return probes::rotating_subject(name, device_, matmul, operands_);
    }

    device::Device& device_;
    probes::MatmulCase matmul_;
    probes::RotatingOperands operands_;
    probes::MatmulChecker checker_;
    std::unique_ptr<ops::PreparedMatmul> heuristic_, tuned_;
    std::unique_ptr<measure::StreamSubject> chosen_, best_;
};

const measure::Alternative& fastest(std::span<const measure::Alternative> some) {
    return *std::ranges::min_element(some, {}, median_of);
}

work::Matmul product(const work::Shape& shape, work::Type type, work::Layout layout,
                     work::Accumulation accumulation) {
    return {.m = shape.m,
            .n = shape.n,
            .k = shape.k,
            .operand = type,
            .accumulate = work::default_accumulate(type),
            .output = work::Type::bf16,
            .layout = layout,
            .accumulation = accumulation};
}

Json peer_problem(const work::Matmul& p, const std::string& path, int sets) {
    return {{"op", "gemm"},
            {"m", p.m},
            {"n", p.n},
            {"k", p.k},
            {"dtype", std::string(work::name(p.operand))},
            {"layout", std::string(work::name(p.layout))},
            {"accumulation", std::string(work::name(p.accumulation))},
            {"path", path},
            {"sets", sets}};
}

std::string size_text(const work::Shape& shape) {
    return fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
}

void compare_bf16(device::Device& device, Torch& torch, const work::Shape& shape, double limit_s) {
    const auto rows = product(shape, work::Type::bf16, work::Layout::nn, work::Accumulation::exact);
    const auto turned =
        product(shape, work::Type::bf16, work::Layout::nt, work::Accumulation::exact);
    Ours ours_nn(device, rows), ours_nt(device, turned);
    auto& tuned_nn = ours_nn.tuned();
    auto& tuned_nt = ours_nt.tuned();
    auto& matmul_nn = torch.with("torch matmul nn", peer_problem(rows, "matmul", ours_nn.sets()));
    auto& matmul_nt = torch.with("torch matmul nt", peer_problem(turned, "matmul", ours_nt.sets()));
    auto& linear = torch.with("torch linear nt", peer_problem(turned, "linear", ours_nt.sets()));
    auto all = alternate({&matmul_nn, &matmul_nt, &linear, &ours_nn.heuristic(),
                          &ours_nt.heuristic(), &tuned_nn, &tuned_nt},
                         limit_s);
    all[3].name = "heuristic nn", all[4].name = "heuristic nt";
    all[5].name = "tuned nn", all[6].name = "tuned nt";
    const double work = work::flop(rows) / 1e12;
    const auto text = "bf16 " + size_text(shape);
    print_row(text, work, "TFLOP/s", all[0], all[3]);
    print_row(text, work, "TFLOP/s", all[1], all[4]);
    const auto& best_torch = fastest(std::span(all).first(3));
    print_row(text + ", best of torch's paths", work, "TFLOP/s", best_torch,
              fastest(std::span(all).subspan(5, 2)));
    print_row(text + ", what tuning gains", work, "TFLOP/s", all[3], all[5]);
    print_row(text + ", what tuning gains", work, "TFLOP/s", all[4], all[6]);
    fmt::print(stderr, "{}: {}; {}; {}\n", text, linear.about(), ours_nn.algorithm(),
               ours_nt.algorithm());
}

void compare_fp8(device::Device& device, Torch& torch, const work::Shape& shape,
                 work::Accumulation accumulation, double limit_s) {
    const auto problem = product(shape, work::Type::fp8_e4m3fn, work::Layout::nt, accumulation);
    Ours ours(device, problem);
    auto& tuned = ours.tuned();
    auto& peer = torch.with("torch scaled_mm", peer_problem(problem, "", ours.sets()));
    const auto all = alternate({&peer, &ours.heuristic(), &tuned}, limit_s);
    const double work = work::flop(problem) / 1e12;
    const auto text = fmt::format("fp8_e4m3fn {} {}", work::name(accumulation), size_text(shape));
    print_row(text, work, "TFLOP/s", all[0], all[1]);
    print_row(text, work, "TFLOP/s", all[0], all[2]);
    fmt::print(stderr, "{}: {}\n", text, ours.algorithm());
}

void compare_memory(device::Device& device, Torch& torch, std::uint64_t bytes, double limit_s) {
    auto& memory = device.need<ops::Memory>();
    const auto a = device.allocate(bytes), c = device.allocate(bytes);
    const auto stream = device.create_stream();
    for (auto* array : {a.get(), c.get()}) {
        device.need<ops::Fill>().enqueue(*stream, {}, work::Type::fp32, bytes / 4, array->data());
    }
    stream->synchronize();
    auto& peer = torch.with("torch copy_", {{"op", "copy"}, {"bytes", bytes}});
    std::vector<std::unique_ptr<ops::PreparedMemory>> kernels;
    std::vector<std::unique_ptr<measure::StreamSubject>> subjects;
    std::vector<measure::Subject*> all{&peer};
    std::vector<double> gigabytes{2.0 * static_cast<double>(bytes) / 1e9};
    for (const auto op : {work::MemoryOp::copy, work::MemoryOp::read, work::MemoryOp::write}) {
        for (const auto& kernel : memory.kernels(op)) {
            kernels.push_back(memory.prepare({op, bytes, false, device::kAnyNode, 1, kernel}));
            auto* prepared = kernels.back().get();
            subjects.push_back(std::make_unique<measure::StreamSubject>(
                fmt::format("{} {}", work::name(op), kernel), device,
                [prepared, &a, &c](device::Stream& on, std::size_t) {
                    prepared->enqueue(on, {a->data(), nullptr, c->data()});
                }));
            all.push_back(subjects.back().get());
            gigabytes.push_back(static_cast<double>(work::counted_bytes(op, bytes)) / 1e9);
        }
    }
    auto alternatives = alternate(all, limit_s);
    // Rates are compared, so times of a gigabyte.
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
        for (double& seconds : alternatives[i].seconds) seconds /= gigabytes[i];
    }
    for (std::size_t i = 1; i < alternatives.size(); ++i) {
        print_row(size_label(bytes), 1, "GB/s", alternatives[0], alternatives[i]);
    }
}

void compare_all(double limit_s, std::string_view part) {
    const auto device = device::open_device("cuda:0");
    Torch torch("torch_cuda_peer.py");
    fmt::print("{} on {}, assay {} ({}).\n\n", utc_now(), device->facts().name, version(), build());
    bench::print_header();
    for (const std::uint64_t gib : {1U, 2U, 4U, 8U}) {
        if (part == "products") break;
        attempt(fmt::format("{}G", gib),
                [&] { compare_memory(*device, torch, gib << 30, limit_s); });
    }
    if (part == "memory") return;
    for (const auto& shape : work::parse_shapes("article", 2048, 1)) {
        attempt("bf16 " + size_text(shape), [&] { compare_bf16(*device, torch, shape, limit_s); });
        for (const auto accumulation : {work::Accumulation::exact, work::Accumulation::fast}) {
            attempt("fp8_e4m3fn " + size_text(shape),
                    [&] { compare_fp8(*device, torch, shape, accumulation, limit_s); });
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    install_interrupt_handlers();
    try {
        compare_all(argc > 1 ? parse_seconds(argv[1]) : 60, argc > 2 ? argv[2] : "");
    } catch (const Error& error) {
        fmt::print(stderr, "bench_cuda_peers: {}\n             {}\n", error.what(), error.hint());
        return kExitFailed;
    }
}
