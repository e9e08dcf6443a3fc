#include "crew/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"

namespace assay::crew {
namespace {

TEST(Descriptor, ClosesItselfOnce) {
    int number = -1;
    {
        Pipe pipe = make_pipe();
        number = pipe.read.number();
        const Descriptor taken = std::move(pipe.read);
        EXPECT_FALSE(pipe.read.open());
        EXPECT_EQ(taken.number(), number);
        EXPECT_NE(::fcntl(number, F_GETFD), -1);
    }
    EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(Descriptor, PipesAreClosedOnExecAndClearOfAChildsOwnNumbers) {
    const Pipe pipe = make_pipe();
    for (const Descriptor* end : {&pipe.read, &pipe.write}) {
        EXPECT_GE(end->number(), 10);
        EXPECT_EQ(::fcntl(end->number(), F_GETFD), FD_CLOEXEC);
    }
    EXPECT_EQ(::write(pipe.write.number(), "x", 1), 1);
    char byte = 0;
    EXPECT_EQ(::read(pipe.read.number(), &byte, 1), 1);
    EXPECT_EQ(byte, 'x');
}

TEST(Descriptor, DuplicatingNothingIsAnError) {
    EXPECT_THROW(duplicate(-1), Error);
}

}  // namespace
}  // namespace assay::crew
