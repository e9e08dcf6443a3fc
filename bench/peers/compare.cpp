// Compares assay's CPU products, attention and memory kernels with their peers, interleaved round
// by round, and prints a table in Markdown for docs/results.md.
//
//   bench_peers [SECONDS a row [products|attention|memory]]
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/time.h"
#include "base/units.h"
#include "base/version.h"
#include "device/loader.h"
#include "measure/interleave.h"
#include "measure/stream_subject.h"
#include "ops/attention.h"
#include "ops/fill.h"
#include "ops/matmul.h"
#include "ops/memory.h"
#include "peer_subject.h"
#include "stats/quantile.h"

namespace {

using namespace assay;
using bench::PeerSubject;

// The best core type of OpenBLAS 0.3.21 for this processor: it doesn't know processors newer than
// itself and then takes its slowest.
std::string best_openblas_core() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    std::stringstream text;
    text << cpuinfo.rdbuf();
    const auto has = [&](const char* flag) {
        return text.str().find(std::string(" ") + flag + " ") != std::string::npos;
    };
    if (has("avx512bw") && has("avx512vl")) return "SkylakeX";
    if (has("avx2"))
        return text.str().find("AuthenticAMD") != std::string::npos ? "Zen" : "Haswell";
    return "Nehalem";
}

crew::Command python_peer(const std::string& script) {
    const auto threads = std::to_string(std::thread::hardware_concurrency());
    crew::Command command{{"/usr/bin/python3", std::string(ASSAY_PEERS_DIR) + "/" + script}};
    command.own_protocol = false;
    command.environment = {{"OPENBLAS_CORETYPE", best_openblas_core()},
                           {"OPENBLAS_NUM_THREADS", threads},
                           {"OMP_NUM_THREADS", threads}};
    return command;
}

crew::Command openmp_peer() {
    crew::Command command{{(program_path().parent_path() / "openmp_peer").string()}};
    command.own_protocol = false;
    command.environment = {{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}};
    return command;
}

std::unique_ptr<device::Buffer> filled(device::Device& device, std::uint64_t elements,
                                       work::Type type, std::uint32_t counter) {
    auto buffer = device.allocate(elements * work::size_of(type));
    const auto stream = device.create_stream();
    device.need<ops::Fill>().enqueue(*stream, {work::Distribution::normal, 0, counter}, type,
                                     elements, buffer->data());
    stream->synchronize();
    return buffer;
}

void print_row(const std::string& what, double work, const char* unit, measure::Subject& ours,
               measure::Subject& peer, const std::string& about, double limit_s) {
    measure::SteadyClock clock;
    measure::InterleaveOptions options;
    options.limit_s = limit_s;
    options.round_s = 0.2;  // caches and clocks that the other left behind are a small part of it
    measure::Subject* subjects[] = {&peer, &ours};
    const auto both = measure::interleave(subjects, clock, options);
    const auto& ratio = both[1].ratio;  // our time over the peer's
    fmt::print("| {} | {} {} | {} {} | {:.3f} ({:.3f} to {:.3f}) | {} | {} | {} |\n", what,
               format_number(work / stats::median(both[1].seconds)), unit,
               format_number(work / stats::median(both[0].seconds)), unit, 1 / ratio.value,
               1 / ratio.interval.hi, 1 / ratio.interval.lo, stats::name(both[1].verdict),
               both[0].seconds.size(), about);
    std::fflush(stdout);
}

void compare_matmul(device::Device& device, std::int64_t size, work::Type type,
                    const std::string& script, double limit_s) {
    const work::Matmul problem{
        size, size, size, 1, type, work::Type::fp32, type, work::Layout::nn, work::Epilogue::none};
    auto matmul = device.need<ops::Matmul>().prepare(problem);
    const auto a = filled(device, work::a_elements(problem), type, 0);
    const auto b = filled(device, work::b_elements(problem), type, 1);
    const auto c = filled(device, work::c_elements(problem), type, 2);
    measure::StreamSubject ours("assay", device, [&](device::Stream& stream, std::size_t) {
        matmul->enqueue(stream, {a->data(), b->data(), nullptr, c->data()});
    });
    PeerSubject peer(script, python_peer(script),
                     {{"op", "gemm"},
                      {"m", size},
                      {"n", size},
                      {"k", size},
                      {"dtype", std::string(work::name(type))}});
    print_row(
        fmt::format("{} {}^3, {}", work::name(type), size, matmul->implementation().algorithm),
        work::flop(problem) / 1e9, "GFLOP/s", ours, peer, peer.about(), limit_s);
}

// 12 heads of 64 by 1024: against torch, and against the two matrix products alone.
void compare_attention(device::Device& device, bool causal, double limit_s) {
    work::Attention problem;
    problem.heads = problem.kv_heads = 12;
    problem.queries = problem.keys = 1024;
    problem.dim = problem.value_dim = 64;
    problem.type = work::Type::fp32;
    problem.mask.causal = causal;
    work::lay_out(problem, work::AttentionLayout::bhsd);
    const auto elements = static_cast<std::uint64_t>(12 * 1024 * 64);
    const auto q = filled(device, elements, problem.type, 0);
    const auto k = filled(device, elements, problem.type, 1);
    const auto v = filled(device, elements, problem.type, 2);
    const auto o = device.allocate(elements * 4), lse = device.allocate(elements / 64 * 4);
    const auto scores = device.allocate(elements / 64 * 1024 * 4);
    const auto pass = work::AttentionPass::forward;
    const auto attention = device.need<ops::Attention>().prepare(problem, pass);
    measure::StreamSubject ours("assay", device, [&](device::Stream& stream, std::size_t) {
        ops::AttentionOperands operands{.q = q->data(), .k = k->data(), .v = v->data()};
        operands.o = o->data();
        operands.lse = static_cast<float*>(lse->data());
        attention->enqueue(stream, operands);
    });
    const auto text =
        fmt::format("attention fp32 {}, 12 x 1024 x 64, {}", causal ? "causal" : "full",
                    attention->implementation().algorithm);
    const double gflop = work::flop(problem, pass) / 1e9;
    PeerSubject torch(
        "torch_peer.py", python_peer("torch_peer.py"),
        {{"op", "attention"}, {"heads", 12}, {"rows", 1024}, {"dim", 64}, {"causal", causal}});
    print_row(text, gflop, "GFLOP/s", ours, torch, torch.about(), limit_s);
    if (causal) return;
    auto& matmul = device.need<ops::Matmul>();
    work::Matmul product{.m = 1024, .n = 1024, .k = 64, .batch = 12};
    product.layout = work::Layout::nt;
    const auto first = matmul.prepare(product);
    product.layout = work::Layout::nn;
    std::swap(product.n, product.k);
    const auto second = matmul.prepare(product);
    measure::StreamSubject products("products", device, [&](device::Stream& on, std::size_t) {
        first->enqueue(on, {q->data(), k->data(), nullptr, scores->data()});
        second->enqueue(on, {scores->data(), v->data(), nullptr, o->data()});
    });
    print_row(text, gflop, "GFLOP/s", ours, products,
              "its two products alone, " + first->implementation().algorithm, limit_s);
}

void compare_memory(device::Device& device, work::MemoryOp op, std::uint64_t bytes,
                    crew::Command command, const std::string& name, double limit_s) {
    auto kernel = device.need<ops::Memory>().prepare({op, bytes, false, device::kAnyNode});
    const auto a = filled(device, bytes / 4, work::Type::fp32, 0);
    const auto b = filled(device, bytes / 4, work::Type::fp32, 1);
    const auto c = filled(device, bytes / 4, work::Type::fp32, 2);
    measure::StreamSubject ours("assay", device, [&](device::Stream& stream, std::size_t) {
        kernel->enqueue(stream, {a->data(), b->data(), c->data()});
    });
    PeerSubject peer(name, std::move(command),
                     {{"op", std::string(work::name(op))}, {"bytes", bytes}});
    print_row(fmt::format("{} of {} arrays", work::name(op), size_label(bytes)),
              static_cast<double>(work::counted_bytes(op, bytes)) / 1e9, "GB/s", ours, peer,
              peer.about(), limit_s);
}

void compare_all(double limit_s, std::string_view part) {
    const auto wanted = [&](std::string_view name) { return part.empty() || part == name; };
    const auto device = device::open_device("cpu");
    fmt::print("{} on {}, {} cores, assay {} ({}).\n\n", utc_now(), device->facts().name,
               device->facts().compute_units, version(), build());
    fmt::print(
        "| what | assay | peer | assay's rate over the peer's (95 %) | assay is | rounds | peer "
        "|\n");
    fmt::print("|---|---|---|---|---|---|---|\n");
    for (const std::int64_t size : {1024, 2048, 4096}) {
        if (!wanted("products")) break;
        compare_matmul(*device, size, work::Type::fp32, "numpy_peer.py", limit_s);
    }
    for (const std::int64_t size : {1024, 2048}) {
        if (!wanted("products")) break;
        compare_matmul(*device, size, work::Type::fp32, "torch_peer.py", limit_s);
        compare_matmul(*device, size, work::Type::bf16, "torch_peer.py", limit_s);
    }
    for (const bool causal : {false, true}) {
        if (wanted("attention")) compare_attention(*device, causal, limit_s);
    }
    if (!wanted("memory")) return;
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 30;
    for (const auto op : {work::MemoryOp::copy, work::MemoryOp::triad}) {
        compare_memory(*device, op, kBytes, openmp_peer(), "openmp_peer", limit_s);
        compare_memory(*device, op, kBytes, python_peer("torch_peer.py"), "torch_peer.py", limit_s);
    }
}

}  // namespace

int main(int argc, char** argv) {
    install_interrupt_handlers();
    try {
        compare_all(argc > 1 ? parse_seconds(argv[1]) : 60, argc > 2 ? argv[2] : "");
    } catch (const Error& error) {
        fmt::print(stderr, "bench_peers: {}\n             {}\n", error.what(), error.hint());
        return kExitFailed;
    }
}
