// Checks of both lines of an error.
#pragma once

#include <gmock/gmock.h>

#include "base/error.h"

namespace assay {

// Runs `action`, which must throw exactly an E with this message and a hint holding `hint`.
template <class E, class Action>
void expect_error(Action&& action, const std::string& message, const std::string& hint) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(typeid(error), typeid(E)) << error.what();
        EXPECT_EQ(error.what(), message);
        EXPECT_FALSE(error.hint().empty());
        EXPECT_THAT(error.hint(), testing::HasSubstr(hint));
        return;
    }
    ADD_FAILURE() << "no error; expected: " << message;
}

}  // namespace assay
