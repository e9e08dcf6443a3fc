#include "cpu/affinity.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <sched.h>
#include <unistd.h>

#include "base/error.h"

namespace assay::cpu {
namespace {

// The kernel refuses a mask shorter than its own, and has none longer than this.
constexpr std::size_t kMostCpus = 8192;
using Mask = std::array<cpu_set_t, kMostCpus / CPU_SETSIZE>;

[[noreturn]] void fail(const char* what) {
    throw Error(std::string("can't ") + what + " the processor affinity: " + std::strerror(errno));
}

Mask current() {
    Mask mask{};
    if (sched_getaffinity(0, sizeof mask, mask.data()) != 0) fail("read");
    return mask;
}

}  // namespace

std::vector<int> thread_affinity() {
    const Mask mask = current();
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < kMostCpus; ++cpu) {
        if (CPU_ISSET_S(cpu, sizeof mask, mask.data())) cpus.push_back(static_cast<int>(cpu));
    }
    return cpus;
}

void set_thread_affinity(const std::vector<int>& cpus) {
    Mask mask{};
    for (const int cpu : cpus) {
        CPU_SET_S(static_cast<std::size_t>(cpu), sizeof mask, mask.data());
    }
    if (sched_setaffinity(0, sizeof mask, mask.data()) != 0) fail("set");
}

struct AffinityScope::Earlier {
    Mask mask;
    pid_t thread;  // the scope may end on another thread
};

AffinityScope::AffinityScope(const std::vector<int>& cpus)
    : earlier_(std::make_unique<Earlier>(current(), gettid())) {
    set_thread_affinity(cpus);
}

AffinityScope::~AffinityScope() {
    // Fails only where the thread has ended or its processors were taken away: nothing is lost
    // then.
    sched_setaffinity(earlier_->thread, sizeof earlier_->mask, earlier_->mask.data());
}

}  // namespace assay::cpu
