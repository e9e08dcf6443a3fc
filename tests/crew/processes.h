// Looking for processes, by what they can't shake off.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace assay::crew {

// Processes whose environment has NAME=VALUE as `entry`.
std::vector<pid_t> processes_with(const std::string& entry);

// Children of this process, zombies included.
std::vector<pid_t> own_children();

// Open descriptors of this process.
std::size_t open_descriptor_count();

// Whether `condition` holds now or within some seconds: for what the kernel does in its own time.
bool soon(const std::function<bool()>& condition);

}  // namespace assay::crew
