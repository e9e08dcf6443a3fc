#include <gmock/gmock.h>

#include "report/format.h"
#include "report/sample_run.h"

namespace assay::report {
namespace {

TEST(ResultsTable, ShowsEveryResultByProbe) {
    EXPECT_EQ(results_table(sample_run()),
              R"(memory on cpu
  case             protocol  metric     value        95 %       n   MHz  path
  op=copy size=1M  boost     bandwidth  12.35  GB/s  ±0.51 %  120  2600  portable
  op=copy size=1G  boost     bandwidth  8.000  GB/s  ±5 % ?   120        portable
  skipped op=copy size=64T: 2 arrays of 64T need 128 TiB, and "5 GiB" are free

gemm on cpu
  case            protocol  metric       value          n
  op=copy size=8  boost     bandwidth  unknown  GB/s  120
  failed op=copy size=7 (qkv): died of SIGSEGV (segmentation fault)

selftest on cpu
  case            protocol  metric     value
  op=copy size=9  boost     2 checks  passed

)");
}

TEST(ResultsTable, SaysThatTheRunWasInterrupted) {
    auto run = sample_run();
    run.state = record::RunState::interrupted;
    EXPECT_THAT(results_table(run),
                testing::EndsWith("interrupted: what was measured is above\n\n"));
}

TEST(ResultsTable, OfNothingIsNothing) {
    EXPECT_EQ(results_table({}), "");
}

TEST(ResultsTable, ShowsATimeWhereItIsAllThereIs) {
    record::Run run;
    run.results = {result_of("selftest", "1")};
    run.results[0].metrics = {bandwidth(1.5e-3, 0)};
    run.results[0].metrics[0].name = "time";
    run.results[0].metrics[0].unit = "s";
    EXPECT_THAT(results_table(run), testing::HasSubstr("time    1.50 ms"));
}

TEST(ResultsTable, GivesNoIntervalToTooFewSamples) {
    record::Run run;
    run.results = {result_of("memory", "1")};
    run.results[0].metrics = {bandwidth(8, 0)};
    run.results[0].metrics[0].n = 1;
    run.results[0].metrics[0].trustworthy = false;
    EXPECT_THAT(results_table(run), testing::HasSubstr("8.000  GB/s  ?     1\n"));
}

TEST(VerdictText, ListsDeliveryFindingsAndTheHeadline) {
    judge::Verdict verdict;
    verdict.headline = "cpu delivers 50 % of its promise";
    verdict.delivered.push_back({"cpu", "memory copy", 12.5, "GB/s", "op=copy size=1G", 25.0,
                                 "2 channels of DDR4-1600", std::nullopt, "no clock"});
    verdict.delivered.push_back({"cpu", "fp32 matrix product", 0.3, "TFLOP/s", "m=64", std::nullopt,
                                 "not in the catalog", std::nullopt, "no clock"});
    const record::Finding finding{"not-steady",
                                  record::Severity::warning,
                                  "2 cases drift",
                                  {"1", "2", "3", "4", "5", "6"},
                                  "leave the machine alone"};
    EXPECT_EQ(verdict_text(verdict, {finding}),
              R"(verdict
  delivered                                 of the promise  of what the clock allows  at
  cpu memory copy           12.50  GB/s               50 %                   unknown  op=copy size=1G
  cpu fp32 matrix product  0.3000  TFLOP/s         unknown                   unknown  m=64
  promise of memory copy: 2 channels of DDR4-1600
  promise of fp32 matrix product: unknown: not in the catalog

findings
  warning [not-steady] 2 cases drift
      1
      2
      3
      4
      and 2 more in the JSON
      do: leave the machine alone

cpu delivers 50 % of its promise
)");
}

TEST(VerdictText, PutsPublishedFiguresBesideAndTheirSourcesBelow) {
    judge::Verdict verdict;
    judge::Delivered boost{"cuda:0", "bf16 matrix product", 800,   "TFLOP/s", "boost m=8",
                           989.5,    "datasheet",           957.0, "seen"};
    catalog::Published article;
    article.value = 720;
    article.unit = "TFLOP/s";
    article.source = "Article";
    article.date = "2024";
    article.method = "median";
    auto other = article;
    other.value = 650;
    other.most = 806;
    other.source = "Other";
    boost.published = {article, other};
    auto sustained = boost;
    sustained.value = 684;
    sustained.case_text = "sustained m=8";
    auto copy = boost;
    copy.quantity = "memory copy";
    copy.published = {article};
    verdict.delivered = {boost, sustained, copy};
    verdict.published_problem = "published.toml:3:1: broken";
    EXPECT_EQ(verdict_text(verdict, {}), R"(verdict
  delivered                                   of the promise  of what the clock allows   published  at
  cuda:0 bf16 matrix product  800.0  TFLOP/s            81 %                      84 %  650 to 806  boost m=8
  cuda:0 bf16 matrix product  684.0  TFLOP/s            69 %                      71 %  650 to 806  sustained m=8
  cuda:0 memory copy          800.0  TFLOP/s            81 %                      84 %         720  boost m=8
  promise of bf16 matrix product, memory copy: datasheet
  published for cuda:0 bf16 matrix product: 720 TFLOP/s (Article, 2024: median)
  published for cuda:0 bf16 matrix product: 650 to 806 TFLOP/s (Other, 2024: median)
  published for cuda:0 memory copy: 720 TFLOP/s (Article, 2024: median)
  published figures: published.toml:3:1: broken

)");
}

}  // namespace
}  // namespace assay::report
