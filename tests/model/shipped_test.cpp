// Every shipped model's counts against published ones: the checkpoints' own totals where a row says
// so, else the figures that the sources in data/models/ print.
#include <gmock/gmock.h>

#include "model/cache.h"
#include "model/config.h"
#include "model/counts.h"

namespace assay::model {
namespace {

struct Row {
    const char* name;
    std::int64_t total;
    double active;  // 0: dense, as the total
    std::int64_t predictors;
    double cache;        // bytes a token at 2 an element, where no window limits it
    double window;       // bytes a request at most, of layers with a window
    std::int64_t state;  // elements a request
};

constexpr Row kRows[]{
    {"llama3.1-8b", 8'030'261'248, 0, 0, 131'072, 0, 0},
    {"llama3.1-70b", 70'553'706'496, 0, 0, 327'680, 0, 0},
    {"llama3.1-405b", 405'853'388'800, 0, 0, 516'096, 0, 0},
    {"mixtral-8x7b", 46'702'792'704, 12'879'925'248, 0, 131'072, 0, 0},
    {"qwen3-8b", 8'190'735'360, 0, 0, 147'456, 0, 0},
    {"qwen3-0.6b", 596'049'920, 0, 0, 114'688, 0, 0},
    {"qwen3-30b-a3b-fp8", 30'532'122'624, 3'353'032'704, 0, 98'304, 0, 0},
    {"qwen3-235b-a22b", 235'093'634'560, 22'190'763'520, 0, 192'512, 0, 0},
    {"qwen3.5-27b", 26'895'998'464, 0, 424'699'392, 65'536, 0, 39'223'296},
    {"deepseek-v3", 671'026'419'200, 37'552'297'472, 11'610'068'224, 70'272, 0, 0},
    {"deepseek-v3.2", 671'877'944'064, 38'403'822'336, 11'624'027'648, 85'888, 0, 0},
    {"deepseek-v4-flash", 284'332'240'471, 13'799'632'471, 6'610'048'891, 6'880, 5'636'096, 0},
    {"kimi-k2", 1'026'408'232'448, 32'861'500'928, 0, 70'272, 0, 0},
    {"kimi-k3", 2'779'484'476'000, 105'364'017'760, 0, 27'648, 0, 116'158'464},
    {"gpt-oss-120b", 116'829'156'672, 5'711'982'912, 0, 36'864, 4'718'592, 0},
    {"gpt-oss-20b", 20'914'757'184, 4'187'440'704, 0, 24'576, 3'145'728, 0},
    {"gemma-4-26b-a4b", 25'233'141'760, 3'822'530'560, 0, 20'480, 209'715'200, 0},
    {"glm-5", 743'911'218'432, 41'784'728'832, 9'952'920'576, 109'824, 0, 0},
    {"minimax-m2.5", 228'689'764'864, 11'030'553'088, 0, 253'952, 0, 0},
    {"nemotron-super-49b", 49'867'145'216, 0, 0, 200'704, 0, 0},
    {"nemotron-3-nano-30b-a3b", 31'577'940'288, 3'580'076'352, 0, 6'144, 0, 12'482'560},
    {"llama4-maverick", 400'711'848'960, 17'184'691'200, 0, 49'152, 1'207'959'552, 0},
    {"qwen3-vl-8b", 8'190'735'360, 0, 0, 147'456, 0, 0},
    {"deepseek-v3.1-nvfp4", 671'026'419'200, 37'552'297'472, 11'610'068'224, 70'272, 0, 0},
    {"mimo-v2-flash", 308'778'781'440, 15'445'936'320, 0, 23'040, 25'559'040, 0},
    {"gpt2-1.5b", 1'557'611'200, 0, 0, 307'200, 0, 0},
    {"llama2-70b", 68'976'648'192, 0, 0, 327'680, 0, 0},
    {"llama3-8b", 8'030'261'248, 0, 0, 131'072, 0, 0},
    {"llama3-70b", 70'553'706'496, 0, 0, 327'680, 0, 0},
    {"llama3-70b-4l", 5'523'972'096, 0, 0, 16'384, 0, 0},
    {"mistral-7b", 7'241'732'096, 0, 0, 0, 4096 * 131'072.0, 0},
    {"bloom-176b", 176'247'271'424, 0, 0, 4'014'080, 0, 0},
    {"gptj-6b", 6'050'882'784, 0, 0, 458'752, 0, 0},
    {"gemma-3-27b", 27'009'346'304, 0, 0, 81'920, 52 * 1024 * 8192.0, 0},
};

class Shipped : public testing::TestWithParam<Row> {};

TEST_P(Shipped, HasThePublishedCounts) {
    const auto& row = GetParam();
    const auto shape = load_model(row.name).shape;
    const auto counts = count(shape);
    EXPECT_EQ(counts.total, row.total);
    EXPECT_EQ(counts.active, row.active == 0 ? static_cast<double>(row.total) : row.active);
    EXPECT_EQ(counts.predictors, row.predictors);
    EXPECT_EQ(cache_bytes_per_token(shape, cache_type("bf16")), row.cache);
    EXPECT_EQ(window_bytes(shape, cache_type("bf16")), row.window);
    EXPECT_EQ(state_elements(shape), row.state);
    std::int64_t layers = 0;
    for (const auto& kind : counts.kinds) layers += kind.layers;
    EXPECT_EQ(layers, static_cast<std::int64_t>(shape.layers.size()));
}

INSTANTIATE_TEST_SUITE_P(All, Shipped, testing::ValuesIn(kRows), [](const auto& test) {
    std::string name;
    for (const char c : std::string(test.param.name)) {
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    return name;
});

TEST(ShippedModels, AreAllOfTheTable) {
    std::vector<std::string> names;
    for (const auto& row : kRows) names.emplace_back(row.name);
    EXPECT_THAT(model_names(), testing::UnorderedElementsAreArray(names));
}

}  // namespace
}  // namespace assay::model
