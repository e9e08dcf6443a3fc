#include "cpu/thread_team.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace assay::cpu {
namespace {

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Looks for a while, then sleeps: back-to-back calls find the members awake, and an idle team
// leaves its cores alone. The pauses take 20 to 50 us, about what waking a sleeper costs.
constexpr int kLooks = 1000;

void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    for (int i = 0; i < kLooks; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        relax();
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(std::vector<Core> cores) : cores_(std::move(cores)) {
    if (cores_.empty()) throw Error("this process may use no core of the topology");
    try {
        for (std::size_t member = 1; member < cores_.size(); ++member) {
            threads_.emplace_back([this, member] { work_loop(member); });
        }
        // Pins every member for good, and tells when one can't be.
        run([this](int index, int) {
            if (index > 0) set_thread_affinity(cores_[static_cast<std::size_t>(index)].cpus);
        });
    } catch (const std::system_error& error) {
        stop();
        throw Error(std::string("can't start a thread: ") + error.what(),
                    "raise the limit on threads (ulimit -u, pids.max)");
    } catch (...) {
        stop();
        throw;
    }
}

ThreadTeam::~ThreadTeam() {
    stop();
}

void ThreadTeam::stop() {
    stopping_ = true;
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::pin() {
    if (!pinned_) pinned_.emplace(cores_[0].cpus);
}

void ThreadTeam::unpin() {
    pinned_.reset();
}

int ThreadTeam::size(int node) const {
    if (node == device::kAnyNode) return static_cast<int>(cores_.size());
    return static_cast<int>(
        std::ranges::count_if(cores_, [&](const Core& core) { return core.node == node; }));
}

void ThreadTeam::run(const Work& work, int node) {
    const int count = size(node);
    if (count == 0) throw Unsupported("NUMA node " + std::to_string(node) + " has no usable core");
    std::optional<AffinityScope> pinned_here;
    if (!pinned_) pinned_here.emplace(cores_[0].cpus);
    work_ = &work;
    node_ = node;
    count_ = count;
    running_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    run_share(0);
    for (std::uint32_t left; (left = running_.load(std::memory_order_acquire)) != 0;) {
        wait_while(running_, left);
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::run_share(std::size_t member) noexcept {
    const auto mine = [&](const Core& core) {
        return node_ == device::kAnyNode || core.node == node_;
    };
    if (!mine(cores_[member])) return;
    const auto index =
        std::count_if(cores_.begin(), cores_.begin() + static_cast<long>(member), mine);
    try {
        (*work_)(static_cast<int>(index), count_);
    } catch (...) {
        const std::lock_guard lock(failure_mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
}

void ThreadTeam::work_loop(std::size_t member) {
    for (std::uint32_t seen = 0;;) {
        wait_while(round_, seen);
        const std::uint32_t now = round_.load(std::memory_order_acquire);
        if (now == seen) continue;
        seen = now;
        if (stopping_) return;
        run_share(member);
        if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
    }
}

}  // namespace assay::cpu
