// Verdicts on scripted machines: golden/NAME.json is the run, golden/NAME.txt what is said of
// it. ASSAY_WRITE_GOLDEN=1 writes both anew from machines.cpp, for a diff to be read.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/units.h"
#include "judge/machines.h"
#include "judge/rule.h"
#include "judge/verdict.h"
#include "record/json.h"

namespace assay::judge {
namespace {

std::string printed(std::optional<double> value, const std::string& basis) {
    return value ? fmt::format("{} ({})", format_number(*value), basis)
                 : fmt::format("unknown ({})", basis);
}

std::string said_of(const record::Run& run) {
    const auto evidence = gather(run);
    const auto findings = find(evidence);
    const auto verdict = conclude(evidence, findings);
    std::string text = verdict.headline + "\n";
    for (const auto& d : verdict.delivered) {
        text += fmt::format("\n{} {}: {} {}\n  at {}\n  promised {}\n  clock allows {}\n", d.device,
                            d.quantity, format_number(d.value), d.unit, d.case_text,
                            printed(d.promised, d.promise_basis),
                            printed(d.clock_allows, d.clock_basis));
        for (const auto& published : d.published) {
            text += fmt::format("  published {} ({})\n", published.value_text(),
                                published.source_text());
        }
    }
    for (const auto& finding : findings) {
        text += fmt::format("\n{} {}: {}\n", record::name(finding.severity), finding.rule,
                            finding.message);
        for (const auto& line : finding.evidence) text += "  " + line + "\n";
        text += "  do: " + finding.advice + "\n";
    }
    return text;
}

class Golden : public testing::TestWithParam<Machine> {};

TEST_P(Golden, IsSaidOfTheScriptedMachine) {
    const auto folder = std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/judge/golden";
    const auto document = folder / (GetParam().name + ".json");
    const auto expected = folder / (GetParam().name + ".txt");
    const auto scripted = GetParam().run();
    if (std::getenv("ASSAY_WRITE_GOLDEN") != nullptr) {
        write_file(document, record::to_json(scripted).dump(1) + "\n");
        write_file(expected, said_of(scripted));
    }
    const auto run =
        record::run_from_json(parse_json(read_file(document), document.filename().string()));
    EXPECT_EQ(run, scripted) << "the document and machines.cpp differ";
    EXPECT_EQ(said_of(run), read_file(expected));
}

INSTANTIATE_TEST_SUITE_P(Machines, Golden, testing::ValuesIn(machines()),
                         [](const auto& machine) { return machine.param.name; });

}  // namespace
}  // namespace assay::judge
