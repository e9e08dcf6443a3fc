#include "device/shared_library.h"

#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>
#include <link.h>

#include "base/error.h"

namespace assay::device {

SharedLibrary::SharedLibrary(const char* variable, const std::vector<std::string>& names) {
    const char* asked = std::getenv(variable);
    const bool named = asked != nullptr && *asked != '\0';
    std::string why;
    for (const auto& file : named ? std::vector<std::string>{asked} : names) {
        handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) {
            file_ = file;
            break;
        }
        if (why.empty()) why = "can't open " + file + ": " + dlerror();
    }
    if (handle_ == nullptr) {
        throw Unsupported(why, std::string("install the library, or name its file in ") + variable);
    }
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
