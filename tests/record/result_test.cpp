#include "record/result.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "record/run.h"

namespace assay::record {
namespace {

Result some_result() {
    Result result;
    result.probe = "gemm";
    result.device = "cuda:3";
    result.conditions.protocol = "boost";
    result.what.set("m", 8192).set("cache", "cold", "cold");
    return result;
}

TEST(Result, IdentityHoldsTheDeviceKindWithoutItsIndex) {
    EXPECT_EQ(some_result().identity(), "gemm cuda boost m=8192");
}

TEST(Result, IdentityDependsOnCaseAndProtocolAndNothingElse) {
    Result other = some_result();
    other.device = "cuda:0";
    other.path = Path::fallback;
    other.conditions.library_version = "9";
    EXPECT_EQ(other.identity(), some_result().identity());
    other.conditions.protocol = "sustained";
    EXPECT_NE(other.identity(), some_result().identity());
    other = some_result();
    other.what.set("n", 1);
    EXPECT_NE(other.identity(), some_result().identity());
}

TEST(Result, IdentityOfACaseOfDefaultsHasNoTail) {
    Result result = some_result();
    result.what = Case();
    EXPECT_EQ(result.identity(), "gemm cuda boost");
}

TEST(Result, FindsItsMetrics) {
    Result result = some_result();
    result.metrics.resize(2);
    result.metrics[0].name = "throughput";
    result.metrics[1].name = "time";
    EXPECT_EQ(result.metric("throughput"), &result.metrics[0]);
    EXPECT_EQ(result.metric("time"), &result.metrics[1]);
    EXPECT_EQ(result.metric("joules"), nullptr);
}

template <typename Enum>
void expect_words_read_back(std::initializer_list<Enum> all, Enum (*parse)(std::string_view)) {
    for (const Enum value : all) EXPECT_EQ(parse(name(value)), value);
    EXPECT_THROW(parse("nonsense"), Error);
    EXPECT_THROW(parse(""), Error);
}

TEST(Words, ReadBack) {
    expect_words_read_back({Better::higher, Better::lower, Better::neither}, &parse_better);
    expect_words_read_back({Status::ok, Status::failed, Status::skipped}, &parse_status);
    expect_words_read_back({Severity::note, Severity::warning, Severity::error}, &parse_severity);
    expect_words_read_back({RunState::complete, RunState::interrupted, RunState::failed},
                           &parse_run_state);
    expect_words_read_back(
        {Path::unknown, Path::fast, Path::portable, Path::fallback, Path::emulated}, &parse_path);
    EXPECT_EQ(name(Path::fallback), "fallback");
    EXPECT_EQ(name(Better::lower), "lower");
    EXPECT_EQ(name(RunState::interrupted), "interrupted");
}

}  // namespace
}  // namespace assay::record
