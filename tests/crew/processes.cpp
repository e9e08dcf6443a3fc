#include "crew/processes.h"

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <unistd.h>

namespace assay::crew {

namespace {

// "" of a process that has ended: it may do so while it is read, which the stream's buffer throws.
std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    try {
        return {std::istreambuf_iterator<char>(file), {}};
    } catch (const std::ios_base::failure&) {
        return "";
    }
}

std::vector<pid_t> processes_where(const std::function<bool(const std::filesystem::path&)>& test) {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error == std::errc() && *end == '\0' && test(entry.path())) found.push_back(pid);
    }
    return found;
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& entry) {
    return processes_where([&](const std::filesystem::path& process) {
        return ('\0' + content(process / "environ")).find('\0' + entry + '\0') != std::string::npos;
    });
}

std::vector<pid_t> own_children() {
    return processes_where([](const std::filesystem::path& process) {
        // pid (name) state parent ...; the name may hold anything
        const std::string stat = content(process / "stat");
        const std::size_t name_end = stat.rfind(')');
        if (name_end == std::string::npos) return false;
        std::istringstream rest(stat.substr(name_end + 1));
        std::string state;
        pid_t parent = 0;
        return rest >> state >> parent && parent == ::getpid();
    });
}

std::size_t open_descriptor_count() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

bool soon(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

}  // namespace assay::crew
