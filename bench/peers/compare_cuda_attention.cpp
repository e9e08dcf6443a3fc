// Compares assay's attention on a GPU with torch's, interleaved round by round in one power state,
// and prints a table in Markdown for docs/results.md. The vendor's library is held against torch's
// use of it, so give both the same file: ASSAY_LIB_CUDNN=.../nvidia/cudnn/lib/libcudnn.so.9.
//
//   bench_cuda_attention [SECONDS a row [vendor|flexible|generic]]
#include <cstdint>
#include <numeric>
#include <string>
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
#include "probes/attention_problem.h"

namespace {

using namespace assay;

struct Shape {
    std::int64_t batch, heads, kv_heads, rows, dim;
};

// What few rows have.
struct Unusual {
    std::int64_t value_dim = 0;  // 0: dim
    std::string_view modifier = "none";
    work::AttentionLayout layout = work::AttentionLayout::bhsd;
    std::string_view lengths = "";  // of ragged entries: batch and rows follow from them
};

struct Row {
    std::string_view part;      // of the table
    std::string_view provider;  // ours
    std::string_view backend;   // torch's: cudnn, flash, flex or varlen
    Shape shape;
    std::string_view mask;
    Unusual unusual = {};
};

constexpr auto kByToken = work::AttentionLayout::bshd;
constexpr auto kPacked = work::AttentionLayout::packed;
// 16384 tokens.
constexpr std::string_view kLengths =
    "4096/2048/2048/1024/1024/1024/1024/1024/512/512/512/512/256/256/256/256";
constexpr Shape kRagged{0, 16, 16, 0, 128};

constexpr Row kRows[] = {
    {"vendor", "cudnn", "cudnn", {4, 16, 16, 4096, 128}, "causal"},
    {"vendor", "cudnn", "cudnn", {2, 16, 16, 16384, 128}, "causal"},
    {"vendor", "cudnn", "cudnn", {4, 16, 16, 4096, 128}, "full"},
    {"vendor", "cudnn", "cudnn", {2, 16, 16, 16384, 128}, "full"},
    {"vendor", "cudnn", "cudnn", {4, 32, 32, 4096, 64}, "causal"},
    {"vendor", "cudnn", "cudnn", {1, 32, 8, 8192, 128}, "causal"},
    {"vendor", "cudnn", "cudnn", {1, 16, 16, 4096, 192}, "causal", {.value_dim = 128}},
    {"vendor", "cudnn", "cudnn", {4, 16, 16, 4096, 128}, "causal", {.layout = kPacked}},
    {"vendor", "cudnn", "cudnn", {16, 25, 25, 1024, 64}, "causal"},
    {"flexible", "cudnn", "flex", {2, 16, 16, 16384, 128}, "causal+window:4096"},
    {"flexible", "cudnn", "flex", {2, 16, 16, 16384, 128}, "causal+window:1024"},
    {"flexible",
     "cudnn",
     "flex",
     {2, 16, 16, 16384, 128},
     "causal+document:even:16",
     {.layout = kByToken}},
    {"flexible",
     "cudnn",
     "flex",
     {2, 16, 16, 16384, 128},
     "causal+document:skewed:16",
     {.layout = kByToken}},
    {"flexible", "cudnn", "flex", kRagged, "causal", {.layout = kByToken, .lengths = kLengths}},
    {"flexible", "cudnn", "varlen", kRagged, "causal", {.layout = kByToken, .lengths = kLengths}},
    {"generic", "generic", "flash", {4, 16, 16, 4096, 128}, "causal"},
    {"generic", "generic", "flash", {2, 16, 16, 16384, 128}, "causal"},
    {"generic", "generic", "flash", {4, 16, 16, 4096, 128}, "full"},
    {"generic", "generic", "flash", {4, 32, 32, 4096, 64}, "causal"},
    {"generic", "generic", "flex", {2, 16, 16, 16384, 128}, "causal+document:skewed:16"},
    {"generic", "generic", "flex", {2, 16, 16, 16384, 128}, "causal", {.modifier = "softcap:50"}},
    {"generic", "generic", "flex", {2, 16, 16, 16384, 128}, "causal", {.modifier = "alibi"}},
    {"generic", "generic", "flex", {2, 16, 16, 16384, 128}, "causal+prefix:4096"},
};

std::string text_of(const Row& row) {
    const auto& s = row.shape;
    const auto& u = row.unusual;
    auto text = u.lengths.empty() ? fmt::format("{}x", s.batch) : std::string();
    text += fmt::format("{}/{}x", s.heads, s.kv_heads);
    text += u.lengths.empty() ? fmt::format("{}", s.rows) : fmt::format("({})", u.lengths);
    text += fmt::format("x{}", s.dim);
    if (u.value_dim != 0) text += fmt::format("/{}", u.value_dim);
    text += fmt::format(" {}", row.mask);
    if (u.modifier != "none") text += fmt::format(" {}", u.modifier);
    if (u.layout == kPacked) text += " packed";
    return text;
}

probes::AttentionCase case_of(const Row& row) {
    probes::AttentionCase attention;
    auto& p = attention.problem;
    p.batch = row.shape.batch;
    p.heads = row.shape.heads;
    p.kv_heads = row.shape.kv_heads;
    p.queries = p.keys = row.shape.rows;
    p.dim = row.shape.dim;
    p.value_dim = row.unusual.value_dim != 0 ? row.unusual.value_dim : p.dim;
    if (!row.unusual.lengths.empty()) {
        probes::set_lengths(p, probes::parse_lengths(row.unusual.lengths));
    }
    p.mask = work::parse_mask(row.mask, p.queries, p.keys);
    p.modifier = work::parse_score_modifier(row.unusual.modifier);
    attention.layout = row.unusual.layout;
    attention.pass = work::AttentionPass::backward;  // its operands serve both
    attention.cache = probes::CacheState::hot;       // one set, as torch has
    work::lay_out(p, attention.layout);
    work::validate(p);
    return attention;
}

// Ragged entries are documents of one sequence to torch.
Json peer_problem(const probes::AttentionCase& attention, std::string_view backend,
                  work::AttentionPass pass) {
    const auto& p = attention.problem;
    if (!p.mask.blocks.empty() || p.mask.alignment != work::Alignment::top_left ||
        p.modifier.bias || p.scale) {
        throw Error("the peer isn't asked for block lists, bottom-right masks, biases and scales");
    }
    const auto tokens = std::accumulate(p.query_lengths.begin(), p.query_lengths.end(), 0L);
    return {{"batch", p.ragged() ? 1 : p.batch},
            {"heads", p.heads},
            {"kv_heads", p.kv_heads},
            {"queries", p.ragged() ? tokens : p.queries},
            {"keys", p.ragged() ? tokens : p.keys},
            {"dim", p.dim},
            {"value_dim", p.value_dim},
            {"dtype", std::string(work::name(p.type))},
            {"causal", p.mask.causal},
            {"window", p.mask.window},
            {"prefix", p.mask.prefix},
            {"documents", p.ragged() ? p.query_lengths : p.mask.documents},
            {"soft_cap", p.modifier.soft_cap},
            {"alibi", p.modifier.alibi},
            {"packed", attention.layout == kPacked},
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
                                peer_problem(attention, row.backend, pass));
        const auto all = bench::alternate({&peer, subject.get()}, limit_s);
        const auto text = fmt::format("{} {}", text_of(row), work::name(pass));
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
        bench::attempt(text_of(row), [&] { compare(*device, torch, row, limit_s); });
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
