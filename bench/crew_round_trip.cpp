// What supervision costs a case: from request() to its answer, and from nothing to a first answer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/files.h"
#include "base/time.h"
#include "crew/crew.h"

namespace {

using namespace assay;

template <typename Work>
double median_us(int count, const Work& work) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
        const double start = monotonic_seconds();
        work();
        times.push_back((monotonic_seconds() - start) * 1e6);
    }
    const auto middle = times.begin() + count / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

}  // namespace

int main(int count, char**) {
    const bool is_child = count > 1;
    if (is_child) {
        crew::serve([](const Json& request, const crew::Send&) { return request; });
        return EXIT_SUCCESS;
    }
    crew::Child child("echo", {.argv = {program_path(), "child"}});
    const Json message = {{"probe", "gemm"}, {"case", "m=4096 n=4096 k=4096 dtype=bf16"}};
    const auto ask = [&] { child.request(message); };
    const auto launch = [&] {
        child.stop();
        ask();
    };
    ask();
    std::printf("round trip  %8.1f us  (median of 5000)\n", median_us(5000, ask));
    std::printf("launch      %8.1f us  (median of 50)\n", median_us(50, launch));
    return EXIT_SUCCESS;
}
