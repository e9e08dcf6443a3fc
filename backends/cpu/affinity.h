// Which hardware threads a thread may run on.
#pragma once

#include <memory>
#include <vector>

namespace assay::cpu {

// Of the calling thread, as the kernel numbers them. Throw Error with the kernel's reason.
std::vector<int> thread_affinity();
void set_thread_affinity(const std::vector<int>& cpus);

// Keeps the calling thread on some processors, and gives it back those it had. Costs 3 us.
class AffinityScope {
  public:
    explicit AffinityScope(const std::vector<int>& cpus);
    ~AffinityScope();
    AffinityScope(const AffinityScope&) = delete;
    AffinityScope& operator=(const AffinityScope&) = delete;

  private:
    struct Earlier;
    std::unique_ptr<Earlier> earlier_;
};

}  // namespace assay::cpu
