#include "cpu/affinity.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <sched.h>

#include "base/error.h"

namespace assay::cpu {
namespace {

struct FreeSet {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using Set = std::unique_ptr<cpu_set_t, FreeSet>;

// The kernel refuses a set shorter than its own: more processors than this don't exist.
constexpr std::size_t kMostCpus = 8192;
const std::size_t kSetBytes = CPU_ALLOC_SIZE(kMostCpus);

Set empty_set() {
    Set set(CPU_ALLOC(kMostCpus));
    CPU_ZERO_S(kSetBytes, set.get());
    return set;
}

}  // namespace

std::vector<int> thread_affinity() {
    const Set set = empty_set();
    if (sched_getaffinity(0, kSetBytes, set.get()) != 0) {
        throw Error(std::string("can't read the processor affinity: ") + std::strerror(errno));
    }
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < kMostCpus; ++cpu) {
        if (CPU_ISSET_S(cpu, kSetBytes, set.get())) cpus.push_back(static_cast<int>(cpu));
    }
    return cpus;
}

void set_thread_affinity(const std::vector<int>& cpus) {
    const Set set = empty_set();
    for (int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), kSetBytes, set.get());
    if (sched_setaffinity(0, kSetBytes, set.get()) != 0) {
        throw Error(std::string("can't set the processor affinity: ") + std::strerror(errno));
    }
}

}  // namespace assay::cpu
