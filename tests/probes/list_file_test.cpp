#include "probes/list_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch.h"
#include "probes/attention.h"
#include "probes/attention_problem.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

class ListFile : public testing::Test {
  protected:
    std::string holding(const std::string& content) {
        write_file(file_, content);
        return file_;
    }

  private:
    Scratch scratch_;
    std::string file_ = scratch_ / "list.txt";
};

TEST_F(ListFile, DocumentsAreLengthsInAnyOrderOfSpacesAndLines) {
    EXPECT_EQ(read_mask_lists("causal+document:" + holding("3\n1 5\r\n")), "causal+document:3/1/5");
    EXPECT_EQ(read_mask_lists("document:" + holding("\t3,1/5") + "+causal"),
              "document:3/1/5+causal");
}

TEST_F(ListFile, BlocksAreARowALine) {
    const auto name = [&](const std::string& content) {
        const auto text = read_mask_lists("blocks:4:" + holding(content));
        return work::name(work::parse_mask(text, 10, 11));
    };
    EXPECT_EQ(name("0\n0, 2\n1-2\n"), "blocks:4:0/0,2/1-2");
    EXPECT_EQ(name("\n0, 2\r\n\n"), "blocks:4:/0,2/");
    EXPECT_EQ(name("0 2\n\t0  2\n1\n"), "blocks:4:0,2/0,2/1");
}

TEST_F(ListFile, WordsStayAsTheyAre) {
    for (const auto* mask :
         {"full", "causal:bottom-right+window:5", "document:even:3", "document:skewed:4+causal",
          "document:3/6", "blocks:4:0,1/0-2/", "blocks:4", "document:", "sliding"}) {
        EXPECT_EQ(read_mask_lists(mask), mask);
    }
    EXPECT_EQ(read_lengths("7/0/9"), "7/0/9");
}

TEST_F(ListFile, LengthsMayStandInLines) {
    EXPECT_EQ(read_lengths(holding("5\n0\n11\n")), "5/0/11");
    EXPECT_EQ(read_lengths("5,0,11"), "5/0/11");
}

// What a file holds is a list, and can't add rules.
TEST_F(ListFile, WhatIsNoListIsRefused) {
    for (const auto* content : {"3/6+causal", "three", "3;6"}) {
        const auto mask = "document:" + holding(content);
        EXPECT_NE(message_of<UsageError>([&] { read_mask_lists(mask); }).find("no list"),
                  mask.npos);
        EXPECT_THROW(read_lengths(holding(content)), UsageError);
    }
    const auto empty = holding("\n");
    for (const auto& mask : {"document:" + empty, "blocks:4:" + empty}) {
        EXPECT_NE(message_of<UsageError>([&] { read_mask_lists(mask); }).find(empty), mask.npos);
    }
    EXPECT_THROW(read_mask_lists("blocks:4:nowhere.txt"), UsageError);
    EXPECT_THROW(read_lengths("nowhere.txt"), UsageError);
}

// A stored document's words open nothing, whatever they name.
TEST_F(ListFile, ACaseOpensNone) {
    const AttentionProbe probe;
    const auto file = holding("512\n512\n");
    auto masked = probe.expand(options_of(probe, {{"mask", "document:" + file}}), {}).at(0);
    EXPECT_EQ(masked.at("mask"), "document:512/512");
    EXPECT_NO_THROW(attention_from_case(masked));
    EXPECT_THROW(attention_from_case(masked.set("mask", "document:" + file)), UsageError);
    auto ragged = probe.expand(options_of(probe, {{"lengths", file}}), {}).at(0);
    EXPECT_EQ(ragged.at("lengths"), "512/512");
    EXPECT_NO_THROW(attention_from_case(ragged));
    EXPECT_THROW(attention_from_case(ragged.set("lengths", file)), UsageError);
}

}  // namespace
}  // namespace assay::probes
