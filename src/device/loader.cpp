#include "device/loader.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace fs = std::filesystem;

namespace assay::device {
namespace {

constexpr const char* kDeviceHint = "write cpu, cuda:0, cuda:all or best";

bool is_kind(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    });
}

// The kind in "libassay_KIND.so", "" for any other name.
std::string kind_of_file(std::string_view name) {
    constexpr std::string_view kPrefix = "libassay_", kSuffix = ".so";
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
    name.remove_prefix(kPrefix.size());
    name.remove_suffix(kSuffix.size());
    return is_kind(name) ? std::string(name) : std::string{};
}

std::vector<fs::path> module_folders() {
    std::vector<fs::path> folders;
    if (const char* path = std::getenv("ASSAY_MODULE_PATH")) {
        for (const auto& folder : split(path, ':')) {
            if (!folder.empty()) folders.emplace_back(folder);
        }
    }
    folders.push_back(program_path().parent_path().parent_path() / "lib/assay");
    return folders;
}

std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::vector<std::string> kinds_found() {
    std::vector<std::string> kinds;
    for (const auto& module : find_modules()) kinds.push_back(module.kind);
    return kinds;
}

std::string file_of(std::string_view kind) {
    for (const auto& module : find_modules()) {
        if (module.kind == kind) return module.file;
    }
    const auto kinds = kinds_found();
    throw UsageError(fmt::format("no module for device {:?}", kind),
                     kinds.empty()
                         ? "no module found at all: name their folder in ASSAY_MODULE_PATH"
                         : fmt::format("modules found: {}; ASSAY_MODULE_PATH names more folders",
                                       join(kinds, ", ")));
}

// Never closed, not even after a failure: exceptions and threads of the library may outlive it.
const ModuleEntry& load_entry(const std::string& file) {
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::string reason = one_line(::dlerror());
        if (reason.starts_with(file + ": ")) reason.erase(0, file.size() + 2);
        throw Error(fmt::format("can't load module {}: {}", file, reason),
                    "rebuild the module or remove the file; a missing library must be installed");
    }
    const void* entry = ::dlsym(library, "assay_module");
    if (entry == nullptr) {
        throw Error(fmt::format("{} is no module of assay: it has no symbol assay_module", file),
                    "remove the file, or rebuild it as a module");
    }
    return *static_cast<const ModuleEntry*>(entry);
}

std::unique_ptr<Module> start_module(std::string_view kind) {
    const auto file = file_of(kind);
    const auto& entry = load_entry(file);
    if (entry.abi != kModuleAbi) {
        throw Error(
            fmt::format("module {} has ABI {}, this program has {}", file, entry.abi, kModuleAbi),
            "rebuild the module with this program's sources, or remove the file");
    }
    if (entry.kind != kind) {
        throw Error(fmt::format("module {} says that it is of kind {:?}", file,
                                std::string_view(entry.kind)),
                    "give the file the name of its kind: libassay_KIND.so");
    }
    const auto failed = [&](const std::string& reason, const std::string& hint) {
        return Error(fmt::format("module {} failed to start: {}", file, one_line(reason)),
                     hint.empty() ? "name another device, or remove the file" : hint);
    };
    try {
        if (std::unique_ptr<Module> module{entry.create()}) return module;
    } catch (const Error& error) {
        throw failed(error.what(), error.hint());
    } catch (const std::exception& error) {
        throw failed(error.what(), {});
    }
    throw failed("it gave no reason", {});
}

std::vector<record::DeviceFacts> devices_of(std::string_view kind, std::string& why) {
    return open_module(kind).list(why);
}

// Vendors let the environment hide devices: CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ...
std::string hidden_by() {
    std::string text;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        const std::string_view assignment(*entry);
        if (!assignment.substr(0, assignment.find('=')).ends_with("_VISIBLE_DEVICES")) continue;
        text += fmt::format("; {} may hide some", assignment);
    }
    return text;
}

std::string with_reason(const std::string& text, const std::string& why) {
    return why.empty() ? text : text + ": " + one_line(why);
}

// The devices that a spec with a kind means; one or more.
std::vector<record::DeviceFacts> devices_meant(const DeviceSpec& spec) {
    std::string why;
    auto devices = devices_of(spec.kind, why);
    if (devices.empty()) {
        throw UsageError(with_reason(fmt::format("there is no {} device here", spec.kind), why),
                         "assay info lists the devices of this machine");
    }
    if (spec.index < 0) return devices;
    const auto index = static_cast<std::size_t>(spec.index);
    if (index >= devices.size()) {
        throw UsageError(
            devices.size() == 1
                ? fmt::format("no device {}:{}: there is 1, {}", spec.kind, index, devices[0].id)
                : fmt::format("no device {}:{}: there are {}, {} to {}", spec.kind, index,
                              devices.size(), devices.front().id, devices.back().id),
            "assay info lists the devices of this machine" + hidden_by());
    }
    return {devices[index]};
}

std::vector<std::string> accelerator_kinds() {
    auto kinds = kinds_found();
    std::erase(kinds, "cpu");
    const auto rank = [](const std::string& kind) {
        return kind == "cuda" ? 0 : kind == "hip" ? 1 : 2;
    };
    std::ranges::stable_sort(kinds, {}, rank);
    return kinds;
}

std::string best_device(std::vector<std::string>& passed_over) {
    for (const auto& kind : accelerator_kinds()) {
        std::string why;
        try {
            const auto devices = devices_of(kind, why);
            if (!devices.empty()) return devices.front().id;
        } catch (const Error& error) {  // a broken module must not cost the others
            why = error.what();
        }
        if (!why.empty()) passed_over.push_back(fmt::format("{}: {}", kind, one_line(why)));
    }
    return devices_meant({"cpu", 0}).front().id;
}

}  // namespace

DeviceSpec parse_device(std::string_view text) {
    if (text == "best") return {};
    const auto colon = text.find(':');
    DeviceSpec spec{std::string(text.substr(0, colon)), 0};
    bool valid = is_kind(spec.kind) && spec.kind != "best";
    if (colon != std::string_view::npos) {
        const auto index = text.substr(colon + 1);
        const auto* end = index.data() + index.size();
        if (index == "all") {
            spec.index = -1;
        } else {
            const auto parsed = std::from_chars(index.data(), end, spec.index);
            valid = valid && parsed.ec == std::errc{} && parsed.ptr == end && spec.index >= 0;
        }
    }
    if (!valid) throw UsageError(fmt::format("malformed device {:?}", text), kDeviceHint);
    return spec;
}

std::vector<ModuleFile> find_modules() {
    std::map<std::string, std::string> files;
    for (const auto& folder : module_folders()) {
        std::error_code missing;
        for (const auto& entry : fs::directory_iterator(folder, missing)) {
            const auto kind = kind_of_file(entry.path().filename().native());
            if (!kind.empty()) files.try_emplace(kind, entry.path());
        }
    }
    std::vector<ModuleFile> modules;
    for (const auto& [kind, file] : files) modules.push_back({kind, file});
    return modules;
}

Module& open_module(std::string_view kind) {
    static std::mutex mutex;
    // Never freed: a module's threads may run until the program ends.
    static auto& open = *new std::map<std::string, std::unique_ptr<Module>, std::less<>>;
    const std::scoped_lock lock(mutex);
    const auto found = open.find(kind);
    if (found != open.end()) return *found->second;
    return *open.emplace(kind, start_module(kind)).first->second;
}

std::vector<std::string> resolve_devices(std::string_view text,
                                         std::vector<std::string>* passed_over) {
    const auto spec = parse_device(text);
    if (spec.kind.empty()) {
        std::vector<std::string> ignored;
        return {best_device(passed_over != nullptr ? *passed_over : ignored)};
    }
    std::vector<std::string> ids;
    for (const auto& facts : devices_meant(spec)) ids.push_back(facts.id);
    return ids;
}

std::unique_ptr<Device> open_device(std::string_view id) {
    const auto spec = parse_device(id);
    if (spec.kind.empty() || spec.index < 0) {
        throw UsageError(fmt::format("{:?} isn't one device", id),
                         "name one, such as cpu or cuda:0");
    }
    devices_meant(spec);
    return open_module(spec.kind).open(spec.index);
}

}  // namespace assay::device
