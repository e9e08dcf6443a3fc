// A parent of its own, to be killed: hands each request to a child of the child program.
#include <cstdlib>

#include "base/interrupt.h"
#include "crew/crew.h"

int main(int, char** argv) {
    assay::crew::Child child("inner", {.argv = {argv[1]}});
    assay::crew::serve([&](const assay::Json& request, const assay::crew::Send& send) {
        assay::install_interrupt_handlers();
        return child.request(request, {.heartbeat_s = 1.2, .grace_s = 0.2}, send);
    });
}
