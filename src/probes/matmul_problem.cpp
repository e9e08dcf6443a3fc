#include "probes/matmul_problem.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"

namespace assay::probes {

namespace {

std::string text(std::string_view word) {
    return std::string(word);
}

}  // namespace

CacheState parse_cache_state(std::string_view word) {
    if (word == "cold") return CacheState::cold;
    if (word == "hot") return CacheState::hot;
    static const std::array<std::string, 2> known{"cold", "hot"};
    throw_unknown("cache state", word, known);
}

Algorithm parse_algorithm(std::string_view word) {
    if (word == "heuristic") return Algorithm::heuristic;
    if (word == "tuned") return Algorithm::tuned;
    static const std::array<std::string, 2> known{"heuristic", "tuned"};
    throw_unknown("algorithm", word, known);
}

record::Case to_case(const MatmulCase& matmul) {
    const auto& p = matmul.problem;
    record::Case what;
    what.set("m", p.m).set("n", p.n).set("k", p.k);
    what.set("dtype", text(work::name(p.operand)));
    what.set("accumulate", text(work::name(p.accumulate)),
             work::name(work::default_accumulate(p.operand)));
    what.set("output", text(work::name(p.output)), work::name(work::default_output(p.operand)));
    what.set("dtype_b", text(work::name(work::type_b(p))), work::name(p.operand));
    what.set("accumulation", text(work::name(p.accumulation)), "exact");
    what.set("scale_a", fmt::format("{}", p.scale_a), "1");
    what.set("scale_b", fmt::format("{}", p.scale_b), "1");
    what.set("layout", text(work::name(p.layout)), work::name(work::default_layout(p.operand)));
    what.set("epilogue", text(work::name(p.epilogue)), "none");
    what.set("batch", std::to_string(p.batch), "1");
    what.set("inputs", text(work::name(matmul.inputs)), "normal");
    what.set("cache", matmul.cache == CacheState::cold ? "cold" : "hot", "cold");
    what.set("algorithm", matmul.algorithm == Algorithm::tuned ? "tuned" : "heuristic",
             "heuristic");
    // A name for readers: marked as a default, so that it never changes the identity.
    if (!matmul.layer.empty()) what.set("layer", matmul.layer, matmul.layer);
    return what;
}

MatmulCase matmul_from_case(const record::Case& what) {
    MatmulCase matmul;
    auto& p = matmul.problem;
    p.m = what.integer("m");
    p.n = what.integer("n");
    p.k = what.integer("k");
    p.operand = work::parse_type(what.at("dtype"));
    p.accumulate = work::parse_type(what.at("accumulate"));
    p.output = work::parse_type(what.at("output"));
    if (what.at("dtype_b") != what.at("dtype")) p.operand_b = work::parse_type(what.at("dtype_b"));
    p.accumulation = work::parse_accumulation(what.at("accumulation"));
    p.scale_a = static_cast<float>(parse_number(what.at("scale_a"), "scale_a"));
    p.scale_b = static_cast<float>(parse_number(what.at("scale_b"), "scale_b"));
    p.layout = work::parse_layout(what.at("layout"));
    p.epilogue = work::parse_epilogue(what.at("epilogue"));
    p.batch = what.integer("batch");
    matmul.inputs = work::parse_distribution(what.at("inputs"));
    matmul.cache = parse_cache_state(what.at("cache"));
    matmul.algorithm = parse_algorithm(what.at("algorithm"));
    if (what.has("layer")) matmul.layer = what.at("layer");
    return matmul;
}

}  // namespace assay::probes
