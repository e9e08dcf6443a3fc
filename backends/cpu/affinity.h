// Which hardware threads this thread may run on.
#pragma once

#include <vector>

namespace assay::cpu {

// Indices as the kernel numbers them. Throws Error with the kernel's reason.
std::vector<int> thread_affinity();
void set_thread_affinity(const std::vector<int>& cpus);

}  // namespace assay::cpu
