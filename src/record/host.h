// What of a machine and its environment can change a number. `root` is "/", but in tests.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace assay::record {

using Settings = std::map<std::string, std::string>;

Settings process_environment();

// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-13-amd64"
std::string system_name(const std::filesystem::path& root);

// "kubernetes", "podman", "docker", "lxc", "apptainer", or "none".
std::string container_kind(const std::filesystem::path& root, const Settings& environment);

// The variables that libraries or this program read. A password in a URL is left out, and so is
// the value of a variable whose name says that it is a secret: records are made to be shared.
Settings environment_settings(const Settings& environment);

// Huge pages, governors, SMT, NUMA balancing and the like, by short names; what this kernel doesn't
// have is left out.
Settings kernel_settings(const std::filesystem::path& root);

// NUMA nodes that have memory, in order; empty where the kernel tells none.
std::vector<int> memory_nodes(const std::filesystem::path& root);

}  // namespace assay::record
