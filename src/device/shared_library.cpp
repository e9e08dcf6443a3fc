#include "device/shared_library.h"

#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>
#include <link.h>

#include "base/error.h"

namespace assay::device {

SharedLibrary::SharedLibrary(const char* variable, const std::string& name) {
    const char* asked = std::getenv(variable);
    const std::string file = asked != nullptr && *asked != '\0' ? asked : name;
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
        throw Unsupported("can't open " + file + ": " + dlerror(),
                          std::string("install the library, or name its file in ") + variable);
    }
    file_ = file;
    link_map* map = nullptr;
    if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0) {
        std::error_code none;
        const auto resolved = std::filesystem::canonical(map->l_name, none);
        if (!resolved.empty()) file_ = resolved;
    }
}

void* SharedLibrary::address(const char* symbol) const {
    void* found = dlsym(handle_, symbol);
    if (found == nullptr) throw Unsupported(file_ + " has no symbol " + symbol);
    return found;
}

}  // namespace assay::device
