#include "cpu/openmp.h"

#include <cstdlib>

#include <dlfcn.h>

namespace assay::cpu {

std::map<std::string, std::string> openmp_settings(const std::vector<Core>& cores) {
    std::string places;
    for (const Core& core : cores) {
        if (!places.empty()) places += ',';
        places += '{' + std::to_string(core.cpus.front()) + '}';
    }
    return {{"OMP_NUM_THREADS", std::to_string(cores.size())},
            {"OMP_PROC_BIND", "close"},
            {"OMP_PLACES", places},
            {"OMP_DYNAMIC", "false"},
            {"GOMP_SPINCOUNT", "1000"}};
}

OpenMpEnvironment::OpenMpEnvironment(const std::vector<Core>& cores) {
    if (void* loaded = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD); loaded != nullptr) {
        dlclose(loaded);
        note_ = "libgomp was loaded before assay could place its threads";
        return;
    }
    // A wait policy of the user's decides how long threads look for work.
    const bool policy = std::getenv("OMP_WAIT_POLICY") != nullptr;
    if (policy) note_ = std::string("OMP_WAIT_POLICY=") + std::getenv("OMP_WAIT_POLICY");
    for (const auto& [name, value] : openmp_settings(cores)) {
        if (const char* users = std::getenv(name.c_str()); users != nullptr) {
            if (!note_.empty()) note_ += ' ';
            note_ += name + '=' + users;
        } else if (!(policy && name == "GOMP_SPINCOUNT")) {
            setenv(name.c_str(), value.c_str(), 1);
            set_.push_back(name);
        }
    }
}

OpenMpEnvironment::~OpenMpEnvironment() {
    for (const std::string& name : set_) unsetenv(name.c_str());
}

}  // namespace assay::cpu
