// A check that bad input is a UsageError that names it.
#pragma once

#include <gmock/gmock.h>

#include "base/error.h"

namespace assay::model {

// Runs `action`, which must throw a UsageError of one line that holds `part`, with a hint.
template <class Action>
void expect_usage_error(Action&& action, const std::string& part) {
    try {
        action();
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr(part));
        EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
        EXPECT_FALSE(error.hint().empty());
        return;
    }
    ADD_FAILURE() << "no error that says: " << part;
}

}  // namespace assay::model
