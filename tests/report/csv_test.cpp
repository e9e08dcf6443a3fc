// The rows by the rules of RFC 4180, read back by a reader of its own.
#include <gmock/gmock.h>

#include "report/format.h"
#include "report/sample_run.h"

namespace assay::report {
namespace {

using Row = std::vector<std::string>;

// Every record ends with CRLF; a quoted field may hold anything, its quotes doubled.
std::vector<Row> read_csv(const std::string& text) {
    std::vector<Row> rows(1, Row(1));
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto& field = rows.back().back();
        if (quoted && text.compare(i, 2, "\"\"") == 0) {
            field += '"';
            ++i;
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (quoted) {
            field += text[i];
        } else if (text[i] == ',') {
            rows.back().emplace_back();
        } else if (text.compare(i, 2, "\r\n") == 0) {
            rows.emplace_back(1);
            ++i;
        } else {
            EXPECT_NE(text[i], '\n') << "a bare line end";
            field += text[i];
        }
    }
    EXPECT_EQ(rows.back(), Row(1)) << "the last record ends with CRLF";
    rows.pop_back();
    return rows;
}

TEST(Csv, HasARowAMetricAndOneForEachResultWithout) {
    const auto rows = read_csv(csv_text(sample_run()));
    const Row header{"run",    "probe",        "device",        "protocol", "case",
                     "status", "reason",       "path",          "metric",   "value",
                     "unit",   "interval_low", "interval_high", "n",        "effective_n"};
    ASSERT_EQ(rows.size(), 8u);
    EXPECT_EQ(rows[0], header);
    for (const auto& row : rows) EXPECT_EQ(row.size(), header.size());
    EXPECT_EQ(rows[1], (Row{"01JE00000000000000000000AB", "memory", "cpu", "boost",
                            "op=copy size=1M", "ok", "", "portable", "bandwidth", "12.3456", "GB/s",
                            "12.2831", "12.4081", "120", "100.5"}));
    EXPECT_EQ(rows[2][8], "time");
    EXPECT_EQ(rows[2][9], "0.0015");
}

TEST(Csv, KeepsCommasQuotesAndLineEnds) {
    auto run = sample_run();
    run.results[1].reason = "one, \"two\"\r\nthree\nfour";
    const auto rows = read_csv(csv_text(run));
    EXPECT_EQ(rows[3][6], "one, \"two\"\r\nthree\nfour");
    EXPECT_EQ(rows[5][6], "2 arrays of 64T need 128 TiB, and \"5 GiB\" are free");
}

TEST(Csv, LeavesEmptyWhatIsUnknown) {
    const auto rows = read_csv(csv_text(sample_run()));
    EXPECT_EQ(rows[4][14], "") << "no effective n";
    EXPECT_EQ(rows[6][9], "") << "NaN";
    EXPECT_EQ(rows[6][11], "") << "no interval";
}

TEST(Csv, OfNothingIsItsHeader) {
    EXPECT_EQ(read_csv(csv_text({})).size(), 1u);
}

}  // namespace
}  // namespace assay::report
