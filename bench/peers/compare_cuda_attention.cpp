// Compares assay's attention on a GPU with torch's, interleaved round by round in one power state,
// and prints a table in Markdown for docs/results.md. The vendor's library is held against torch's
// use of it, so give both the same file: ASSAY_LIB_CUDNN=.../nvidia/cudnn/lib/libcudnn.so.9.
//
//   bench_cuda_attention [SECONDS a row [vendor|flexible|generic]]
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "alternating.h"
#include "base/interrupt.h"
#include "base/time.h"
#include "base/units.h"
#include "base/version.h"
#include "device/loader.h"
#include "ops/attention.h"
#include "probes/attention_check.h"
#include "probes/attention_operands.h"

namespace {

using namespace assay;

struct Row {
    std::string_view part;      // of the table
    std::string_view provider;  // ours
    std::string_view backend;   // torch's: cudnn, flash or flex
    std::int64_t batch, heads, kv_heads, rows, dim;
    std::string_view mask;
    std::string_view modifier = "none";
    work::AttentionLayout layout = work::AttentionLayout::bhsd;
};

constexpr auto kByToken = work::AttentionLayout::bshd;
constexpr std::array<Row, 18> kRows{{
    {"vendor", "cudnn", "cudnn", 4, 16, 16, 4096, 128, "causal"},
    {"vendor", "cudnn", "cudnn", 2, 16, 16, 16384, 128, "causal"},
    {"vendor", "cudnn", "cudnn", 4, 16, 16, 4096, 128, "full"},
    {"vendor", "cudnn", "cudnn", 2, 16, 16, 16384, 128, "full"},
    {"vendor", "cudnn", "cudnn", 4, 32, 32, 4096, 64, "causal"},
    {"vendor", "cudnn", "cudnn", 1, 32, 8, 8192, 128, "causal"},
    {"flexible", "cudnn", "flex", 2, 16, 16, 16384, 128, "causal+window:4096"},
    {"flexible", "cudnn", "flex", 2, 16, 16, 16384, 128, "causal+window:1024"},
    {"flexible", "cudnn", "flex", 2, 16, 16, 16384, 128, "causal+document:even:16", "none",
     kByToken},
    {"flexible", "cudnn", "flex", 2, 16, 16, 16384, 128, "causal+document:skewed:16", "none",
     kByToken},
    {"generic", "generic", "flash", 4, 16, 16, 4096, 128, "causal"},
    {"generic", "generic", "flash", 2, 16, 16, 16384, 128, "causal"},
    {"generic", "generic", "flash", 4, 16, 16, 4096, 128, "full"},
    {"generic", "generic", "flash", 4, 32, 32, 4096, 64, "causal"},
    {"generic", "generic", "flex", 2, 16, 16, 16384, 128, "causal+document:skewed:16"},
    {"generic", "generic", "flex", 2, 16, 16, 16384, 128, "causal", "softcap:50"},
    {"generic", "generic", "flex", 2, 16, 16, 16384, 128, "causal", "alibi"},
    {"generic", "generic", "flex", 2, 16, 16, 16384, 128, "causal+prefix:4096"},
}};

probes::AttentionCase case_of(const Row& row) {
    probes::AttentionCase attention;
    auto& p = attention.problem;
    p.batch = row.batch;
    p.heads = row.heads;
    p.kv_heads = row.kv_heads;
    p.queries = p.keys = row.rows;
    p.dim = p.value_dim = row.dim;
    p.mask = work::parse_mask(row.mask, row.rows, row.rows);
    p.modifier = work::parse_score_modifier(row.modifier);
    attention.layout = row.layout;
    attention.pass = work::AttentionPass::backward;  // its operands serve both
    attention.cache = probes::CacheState::hot;       // one set, as torch has
    work::lay_out(p, row.layout);
    work::validate(p);
    return attention;
}

Json peer_problem(const work::Attention& p, std::string_view backend, work::AttentionPass pass) {
    return {{"batch", p.batch},
            {"heads", p.heads},
            {"kv_heads", p.kv_heads},
            {"queries", p.queries},
            {"keys", p.keys},
            {"dim", p.dim},
            {"value_dim", p.value_dim},
            {"dtype", std::string(work::name(p.type))},
            {"causal", p.mask.causal},
            {"window", p.mask.window},
            {"prefix", p.mask.prefix},
            {"documents", p.mask.documents},
            {"soft_cap", p.modifier.soft_cap},
            {"alibi", p.modifier.alibi},
            {"pass", std::string(work::name(pass))},
            {"backend", std::string(backend)}};
}

void require(const record::Check& check) {
    if (!check.passed) throw Error("the answer is wrong: " + check.detail);
}

void compare(device::Device& device, bench::Torch& torch, const Row& row, double limit_s) {
    const auto attention = case_of(row);
    const auto& problem = attention.problem;
    const probes::RotatingAttention operands(device, attention, 0);
    probes::AttentionChecker checker(attention, 0);
    const auto stream = device.create_stream();
    for (const auto pass : {work::AttentionPass::forward, work::AttentionPass::backward}) {
        const auto ours =
            device.need<ops::Attention>().prepare(problem, pass, std::string(row.provider));
        checker.poison(device, operands.set(0), pass);
        ours->enqueue(*stream, operands.set(0));
        stream->synchronize();
        require(checker.check(device, operands.set(0), pass));
        probes::run_on_every_set(device, *ours, operands);

        const auto subject =
            probes::rotating_subject(std::string(row.provider), device, *ours, operands);
        auto& peer = torch.with(fmt::format("torch {}", row.backend),
                                peer_problem(problem, row.backend, pass));
        const auto all = bench::alternate({&peer, subject.get()}, limit_s);
        const auto text = fmt::format(
            "{}x{}/{}x{}x{} {}{} {}", row.batch, row.heads, row.kv_heads, row.rows, row.dim,
            row.mask, problem.modifier.is_none() ? "" : " " + std::string(row.modifier),
            work::name(pass));
        bench::print_row(text, work::flop(problem, pass) / 1e12, "TFLOP/s", all[0], all[1]);
        const auto& used = ours->implementation();
        fmt::print(stderr, "{}: {}; {} {} ({}), {}, {}\n", text, peer.about(), used.library,
                   used.library_version, used.library_file, used.algorithm, used.note);
    }
}

void compare_all(double limit_s, std::string_view part) {
    const auto device = device::open_device("cuda:0");
    bench::Torch torch("torch_cuda_attention_peer.py");
    fmt::print("{} on {}, assay {} ({}).\n\n", utc_now(), device->facts().name, version(), build());
    bench::print_header();
    for (const auto& row : kRows) {
        if (!part.empty() && row.part != part) continue;
        bench::attempt(std::string(row.mask), [&] { compare(*device, torch, row, limit_s); });
    }
}

}  // namespace

int main(int argc, char** argv) {
    install_interrupt_handlers();
    try {
        compare_all(argc > 1 ? parse_seconds(argv[1]) : 10, argc > 2 ? argv[2] : "");
    } catch (const Error& error) {
        fmt::print(stderr, "bench_cuda_attention: {}\n                      {}\n", error.what(),
                   error.hint());
        return kExitFailed;
    }
}
