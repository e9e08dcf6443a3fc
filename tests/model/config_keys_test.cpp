#include "model/config_keys.h"

#include "model/usage_error.h"

namespace assay::model {
namespace {

TEST(Keys, NameWhatIsNoTableAsTheFileDoes) {
    const Keys keys(parse_json(R"({"a": "fp8", "b": {"c": 1}, "d": [{}, 2]})", "x.json"), "x.json");
    expect_usage_error([&] { keys.table("a"); }, R"(x.json: "a" is no table)");
    expect_usage_error([&] { keys.table("b").table("c"); }, R"(x.json: "b.c" is no table)");
    expect_usage_error([&] { keys.tables("d"); }, R"(x.json: "d[1]" is no table)");
}

}  // namespace
}  // namespace assay::model
