// What the rules find in a run.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "judge/rule.h"

namespace assay::judge {

inline std::vector<record::Finding> findings_in(const record::Run& run) {
    return find(gather(run));
}

// The run gives this finding and no other, with one line of evidence that holds `evidence`.
inline void expect_only(const record::Run& run, const std::string& rule, record::Severity severity,
                        const std::string& evidence) {
    const auto findings = findings_in(run);
    ASSERT_EQ(findings.size(), 1U) << testing::PrintToString(findings.size());
    EXPECT_EQ(findings[0].rule, rule);
    EXPECT_EQ(findings[0].severity, severity);
    EXPECT_THAT(findings[0].evidence, testing::Contains(testing::HasSubstr(evidence)));
    EXPECT_THAT(findings[0].message, testing::Not(testing::IsEmpty()));
    EXPECT_THAT(findings[0].advice, testing::Not(testing::IsEmpty()));
}

}  // namespace assay::judge
