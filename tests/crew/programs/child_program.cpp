// A child that does what the request says, most of it bad.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "crew/crew.h"

namespace {

using assay::Json;

void write_to_a_forbidden_page() {
    void* page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile char*>(page) = 1;
}

// In the C library's own code.
void read_a_forbidden_page_in_a_library() {
    void* page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    [[maybe_unused]] volatile long value = ::a64l(static_cast<const char*>(page));
}

[[noreturn]] void compute_for_ever() {
    for (volatile unsigned long step = 0;;) step = step + 1;
}

// A process of this one's group that takes no hint.
void start_stubborn_grandchild() {
    if (std::system("(trap '' TERM INT HUP; sleep 1000) &") != 0) throw assay::Error("no shell");
}

Json open_descriptors() {
    Json numbers = Json::array();
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        numbers.push_back(std::filesystem::read_symlink(entry.path()).string());
    return numbers;
}

[[noreturn]] void throw_kind(const std::string& kind) {
    if (kind == "usage") throw assay::UsageError("bad shape \"0x1\"", "give a positive size");
    if (kind == "unsupported") throw assay::Unsupported("no fp8 here", "take bf16");
    if (kind == "device_lost") throw assay::DeviceLost("cuda:0 is lost", "reset it");
    if (kind == "error") throw assay::Error("can't read x", "make it readable");
    if (kind == "standard") throw std::runtime_error("a standard exception");
    throw 42;
}

Json obey(const Json& request, const assay::crew::Send& send) {
    const std::string what = request.at("do");
    if (request.contains("grandchild")) start_stubborn_grandchild();
    if (request.contains("stubborn")) std::signal(SIGTERM, SIG_IGN);
    if (request.contains("announce")) send({{"type", "ready"}});

    if (what == "echo") return request.at("value");
    if (what == "pid") return ::getpid();
    if (what == "group") return ::getpgrp();
    if (what == "descriptors") return open_descriptors();
    if (what == "news") {
        for (int i = 0; i < request.at("count"); ++i) send({{"type", "progress"}, {"step", i}});
        return nullptr;
    }
    if (what == "print") {
        std::printf("printed by a library\n");
        std::cout << "{\"type\":\"done\",\"value\":\"forged\"}" << std::endl;
        return "true answer";
    }
    if (what == "complain") {
        std::cerr << request.at("value").get<std::string>() << std::endl;
        return nullptr;
    }
    if (what == "throw") throw_kind(request.at("kind"));
    if (what == "work") {  // longer than a heartbeat limit may be
        std::this_thread::sleep_for(std::chrono::duration<double>(request.at("seconds")));
        return nullptr;
    }
    if (what == "crash") write_to_a_forbidden_page();
    if (what == "crash in a library") read_a_forbidden_page_in_a_library();
    if (what == "abort") std::abort();
    if (what == "loop") compute_for_ever();
    if (what == "stop") ::raise(SIGSTOP);
    if (what == "exit") std::_Exit(request.at("status"));
    return nullptr;
}

}  // namespace

int main() {
    assay::crew::serve(obey);
}
