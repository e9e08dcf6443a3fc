#include "report/cost.h"

#include <gmock/gmock.h>

#include "plan/cost_report.h"
#include "report/csv_row.h"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

const catalog::Prices& shipped() {
    static const auto kPrices =
        catalog::load_prices(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/prices.toml");
    return kPrices;
}

plan::CostReport sample() {
    plan::Deployment d;
    d.system_name = "h200";
    d.system = shipped().system("h200");
    d.servers = 128;
    d.network_name = "ib-ndr";
    d.network = shipped().network("ib-ndr");
    plan::Work work;
    work.instance = 8;
    work.rates = plan::token_rates(8000, plan::Counts::output, 0.75);
    plan::CostReport report;
    report.systems.push_back(plan::cost_of_owned(d, shipped(), work));
    report.systems.push_back(
        plan::cost_of_rented("b200", shipped().system("b200"), {8, 4.25}, shipped(), work));
    report.comparison = plan::compare(report.systems[0], report.systems[1]);
    catalog::ScenarioFigure figure;
    figure.figure = "capital";
    figure.value = 1;
    figure.within = 0.5;
    figure.source = "who";
    report.published = plan::beside_published({figure}, report.systems[0]);
    return report;
}

TEST(CostText, TableTellsPartsSharesAndWhatMattersMost) {
    const auto text = cost_table(sample());
    for (const auto* word :
         {"h200: 128 x server of 8 H200, 1024 devices, network ib-ndr", "33,024,000",
          "leaf switches", "$/device-hour, owned", "$/device-hour, useful",
          "$/million output tokens, useful", "what matters most", "b200, rented",
          "performance per TCO, output tokens, h200 over b200", "DIFFERS"}) {
        EXPECT_THAT(text, HasSubstr(word));
    }
    EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(CostText, JsonHoldsEveryFigureWithItsDefinition) {
    const auto report = sample();
    const auto json = cost_json(report);
    const auto& system = json.at("systems").at(0);
    ASSERT_EQ(system.at("figures").size(), report.systems[0].figures.size());
    for (const auto& figure : system.at("figures")) {
        EXPECT_FALSE(figure.at("definition").get<std::string>().empty()) << figure.dump();
        EXPECT_TRUE(figure.at("value").is_number()) << figure.dump();
    }
    double share = 0;
    for (const auto& part : system.at("parts")) share += part.at("share").get<double>();
    EXPECT_NEAR(share, 1, 1e-12);
    EXPECT_EQ(system.at("tornado").size(), report.systems[0].tornado.size());
    EXPECT_EQ(system.at("inputs").size(), report.systems[0].ownership->used.size());
    EXPECT_FALSE(json.at("published").at(0).at("holds").get<bool>());
    EXPECT_EQ(json.at("comparison").size(), report.comparison.size());
}

TEST(CostText, CsvHasARowAFigurePartBarAndInput) {
    const auto report = sample();
    const auto csv = cost_csv(report);
    std::size_t rows = 1 + report.comparison.size() + report.published.size();
    for (const auto& system : report.systems) {
        rows += system.figures.size() + system.tornado.size() + system.inputs.size() +
                (system.ownership ? system.ownership->lines.size() : 0);
    }
    std::size_t ends = 0;
    for (std::size_t at = csv.find("\r\n"); at != csv.npos; at = csv.find("\r\n", at + 1)) ++ends;
    EXPECT_EQ(ends, rows);
    EXPECT_TRUE(csv.starts_with("system,section,name,value,unit,low,high,definition\r\n"));
    EXPECT_THAT(csv, HasSubstr("h200,network,leaf switches,32,switches,"));
    EXPECT_THAT(csv, HasSubstr("h200,cost,\"$/device-hour, owned\","));
}

TEST(CostText, ListsWhatCanBeNamed) {
    const auto text = prices_table(shipped());
    EXPECT_THAT(text, HasSubstr(shipped().file));
    for (const auto& [name, system] : shipped().systems) EXPECT_THAT(text, HasSubstr(name));
    for (const auto& [name, input] : shipped().inputs) EXPECT_THAT(text, HasSubstr(name));
    EXPECT_EQ(prices_json(shipped()).at("inputs").size(), shipped().inputs.size());
    EXPECT_THAT(prices_csv(shipped()), HasSubstr(",input,pue,1.35,ratio,1.1,1.54,"));
}

TEST(CsvRows, QuoteByTheRules) {
    std::string out;
    append_row(out, std::vector<std::string>{"a,b", "say \"x\"", "", "two\nlines"});
    EXPECT_EQ(out, "\"a,b\",\"say \"\"x\"\"\",,\"two\nlines\"\r\n");
    EXPECT_EQ(csv_number(0.1), "0.1");
    EXPECT_EQ(csv_number(std::nan("")), "");
}

}  // namespace
}  // namespace assay::report
