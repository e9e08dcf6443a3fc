#include "catalog/published.h"

#include <algorithm>
#include <array>
#include <set>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "base/files.h"
#include "base/scratch.h"
#include "catalog/accelerator.h"

namespace assay::catalog {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<Published>& shipped() {
    static const auto kRows =
        load_published(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/published.toml");
    return kRows;
}

record::Result product(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& dtype) {
    record::Result result;
    result.probe = "gemm";
    result.what.set("m", m).set("n", n).set("k", k).set("dtype", dtype);
    result.what.set("layout", "nt", "nn").set("epilogue", "none", "none").set("batch", "1", "1");
    result.what.set("inputs", "normal", "normal");
    return result;
}

record::Result kernel(const std::string& op, const std::string& size) {
    record::Result result;
    result.probe = "memory";
    result.what.set("op", op).set("size", size);
    return result;
}

std::vector<double> values(const std::string& device, const record::Result& result) {
    std::vector<double> values;
    for (const auto& row : find_published(shipped(), device, result)) values.push_back(row.value);
    return values;
}

TEST(Published, EveryShippedRowHasSourceMethodAndAKnownDevice) {
    std::set<std::string> devices;
    const auto accelerators =
        load_accelerators(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/accelerators.toml");
    for (const auto& row : accelerators) devices.insert(row.name);
    ASSERT_GT(shipped().size(), 50U);
    for (const auto& row : shipped()) {
        EXPECT_THAT(row.source, Not(IsEmpty())) << row.device;
        EXPECT_THAT(row.source, Not(HasSubstr("recalled"))) << row.device;
        EXPECT_THAT(row.method, Not(IsEmpty())) << row.device;
        EXPECT_TRUE(devices.contains(row.device)) << row.device;
        if (row.kind == Published::Kind::ratio) {
            EXPECT_TRUE(devices.contains(row.over)) << row.over;
            EXPECT_THAT(row.what, Not(IsEmpty())) << row.device;
        }
    }
}

// More than the maker allows would be a slip of the pen.
TEST(Published, NoShippedFigureIsAboveTheDatasheet) {
    const auto accelerators =
        load_accelerators(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/accelerators.toml");
    for (const auto& row : shipped()) {
        if (row.kind == Published::Kind::ratio) continue;
        for (const auto& accelerator : accelerators) {
            if (accelerator.name != row.device) continue;
            if (row.unit != "TFLOP/s" && row.unit != "GB/s") continue;
            // In-network reduction may pass the link, and what attention computes in isn't told.
            if (row.probe == "collective") continue;
            if (row.probe != "memory" && row.dtype.empty()) continue;
            if (row.probe == "memory") {
                EXPECT_LT(row.value, accelerator.bandwidth[0].value / 1e9) << row.device;
            } else {
                const auto type =
                    row.dtype == "nvfp4" ? "fp4" : *catalog_type(row.dtype, accelerator.unit.e4m3);
                EXPECT_LT(row.value, accelerator.peak.at(type)[0].value / 1e12)
                    << row.device << " " << row.dtype;
            }
        }
    }
}

TEST(Published, IsFoundForTheSameWorkOnly) {
    const std::string h200 = "NVIDIA H200 SXM";
    EXPECT_THAT(values(h200, product(8192, 8192, 8192, "bf16")), ElementsAre(720, 806, 670));
    EXPECT_THAT(values(h200, product(8192, 8192, 8192, "fp8_e4m3fn")),
                ElementsAre(1280, 1301, 1243));
    EXPECT_THAT(values(h200, product(16384, 8192, 1280, "bf16")), ElementsAre(720));
    EXPECT_THAT(values(h200, product(8192, 16384, 1280, "bf16")), IsEmpty());
    EXPECT_THAT(values(h200, product(8192, 8192, 8192, "fp32")), IsEmpty());
    EXPECT_THAT(values("NVIDIA H200 NVL", product(8192, 8192, 8192, "bf16")), IsEmpty());
    EXPECT_THAT(values("", product(8192, 8192, 8192, "bf16")), IsEmpty());
    EXPECT_THAT(values(h200, kernel("copy", "4G")), ElementsAre(4010));
    EXPECT_THAT(values(h200, kernel("read", "4G")), ElementsAre(4480, 4100));
    EXPECT_THAT(values(h200, kernel("write", "4G")), IsEmpty());
}

TEST(Published, OtherInputsBatchesOrEpiloguesAreOtherWork) {
    auto result = product(8192, 8192, 8192, "bf16");
    for (const auto& [name, value] :
         {std::pair{"inputs", "zeros"}, std::pair{"batch", "8"}, std::pair{"epilogue", "bias"}}) {
        auto other = result;
        other.what.set(name, value);
        EXPECT_THAT(values("NVIDIA H200 SXM", other), IsEmpty()) << name;
    }
    result.what.set("inputs", "uniform");
    EXPECT_THAT(values("NVIDIA H200 SXM", result), testing::SizeIs(3));
    result.probe = "attention";
    EXPECT_THAT(values("NVIDIA H200 SXM", result), IsEmpty());
}

TEST(Published, AttentionIsFoundForTheSameCaseOnly) {
    const std::string h200 = "NVIDIA H200 SXM";
    record::Result result;
    result.probe = "attention";
    auto& what = result.what;
    what.set("batch", "1", "1").set("heads", 64).set("kv_heads", "8", "64").set("seq", 8192);
    what.set("keys", "8192", "8192").set("dim", 128).set("dtype", "bf16");
    what.set("mask", "causal", "full").set("modifier", "none", "none").set("pass", "forward");
    what.set("layout", "bhsd", "bshd").set("inputs", "normal", "normal");
    EXPECT_THAT(values(h200, result), ElementsAre(644));
    what.set("pass", "backward");
    EXPECT_THAT(values(h200, result), ElementsAre(541));
    what.set("mask", "full", "full");
    EXPECT_THAT(values(h200, result), ElementsAre(594));
    EXPECT_THAT(values("NVIDIA H100 SXM", result), IsEmpty());
    for (const auto& [name, value] :
         {std::pair{"inputs", "zeros"}, std::pair{"keys", "4096"}, std::pair{"batch", "2"},
          std::pair{"modifier", "alibi"}, std::pair{"dtype", "fp16"}, std::pair{"seq", "8193"}}) {
        auto other = result;
        other.what.set(name, value);
        EXPECT_THAT(values(h200, other), IsEmpty()) << name;
    }
}

TEST(Published, WhatWasReadInAnExcerptIsMarked) {
    for (const auto& row : shipped()) {
        const bool excerpt = std::ranges::any_of(
            std::array{"fork", "blog on GB200", "scalarlm", "alpharomercoma", "2407.08608", "NeMo",
                       "MLPerf"},
            [&](const char* part) { return row.source.find(part) != row.source.npos; });
        EXPECT_EQ(row.secondary, excerpt) << row.source;
    }
}

TEST(Published, RatiosAreNoFigureOfAResult) {
    const auto ratios = std::ranges::count(shipped(), Published::Kind::ratio, &Published::kind);
    EXPECT_GE(ratios, 8);
    for (const auto& row :
         find_published(shipped(), "AMD Instinct MI300X", product(8192, 8192, 8192, "bf16"))) {
        EXPECT_EQ(row.unit, "TFLOP/s");
    }
}

TEST(Published, SaysValueAndSource) {
    Published row;
    row.value = 720;
    row.source = "Who";
    row.method = "median";
    EXPECT_EQ(row.value_text(), "720");
    EXPECT_EQ(row.source_text(), "Who: median");
    row.most = 740;
    row.date = "2024-12-22";
    row.secondary = true;
    EXPECT_EQ(row.value_text(), "720 to 740");
    EXPECT_EQ(row.source_text(), "Who, 2024-12-22, secondary: median");
}

class BrokenPublished : public testing::Test {
  protected:
    void expect(const std::string& row, const std::string& reason) {
        const auto path = scratch_ / "published.toml";
        write_file(path,
                   "[source.s]\ntext = \"who\"\n[[row]]\nprobe = \"gemm\"\n"
                   "device = \"d\"\n" +
                       row);
        expect_error<UsageError>([&] { load_published(path); }, path.string() + ":" + reason,
                                 "head of the file");
    }
    Scratch scratch_;
};

TEST_F(BrokenPublished, NamesFileLineAndColumn) {
    const std::string rest = "unit = \"GB/s\"\nmethod = \"m\"\nsource = \"s\"\n";
    expect(rest, "3:1: \"value\" is missing");
    expect("value = \"many\"\n" + rest, "6:9: expected a number above 0");
    expect("value = [1, 2, 3]\n" + rest, "6:9: expected a number or [LEAST, MOST]");
    expect("value = [2, 1]\n" + rest, "6:9: the least is above the most");
    expect(
        "value = 1\nunit = \"MB/s\"\n",
        "7:8: \"unit\" is \"MB/s\", expected TFLOP/s or GB/s or tokens/s or s or tokens/s per $/h");
    expect("value = 1\nunit = \"GB/s\"\nsource = \"s\"\n", "3:1: \"method\" is missing");
    expect("value = 1\nunit = \"GB/s\"\nmethod = \"m\"\nsource = \"t\"\n", "9:10: no [source.t]");
    expect("value = 1\nover = \"e\"\n" + rest, "7:8: only a ratio is over another");
    expect("kind = \"ratio\"\nvalue = 1\n" + rest, "3:1: \"over\" is missing");
    expect("kind = \"guess\"\n", "6:8: \"kind\" is \"guess\", expected measured or ratio");
    expect("value = 1\nshapes = [[1, 2]]\n" + rest, "7:11: expected [M, N, K]");
    expect("value = 1\ncase = 3\n" + rest, "7:8: \"case\" has another type");
    expect("value = 1\ncase = { heads = true }\n" + rest,
           "7:18: expected a whole number from 0 to 1,000,000");
    expect("colour = 1\n", "6:10: unknown key \"colour\"");
}

}  // namespace
}  // namespace assay::catalog
