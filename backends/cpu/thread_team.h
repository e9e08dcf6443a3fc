// Threads pinned one a core that run a piece of work together, the calling thread among them.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cpu/affinity.h"
#include "cpu/topology.h"
#include "device/device.h"

namespace assay::cpu {

// The caller is the first member. It is pinned to the first core while it works, and not longer
// than it must be: processes and threads that it starts would inherit that. One thread at a time
// may use a team.
class ThreadTeam {
  public:
    using Work = std::function<void(int index, int count)>;

    // `cores` as usable_cores() gives them, at least one. Throws Error when a thread can't be
    // started or pinned.
    explicit ThreadTeam(std::vector<Core> cores);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    const std::vector<Core>& cores() const { return cores_; }
    int size(int node = device::kAnyNode) const;

    // Pins the caller until unpin(), so that the calls between them needn't. Idempotent.
    void pin();
    void unpin();

    // Runs work(0..count-1, count), one on each core of `node`, and returns when all are done.
    // Rethrows the first exception. Throws Unsupported when the node has no core.
    void run(const Work& work, int node = device::kAnyNode);

  private:
    void work_loop(std::size_t member);
    void run_share(std::size_t member) noexcept;
    void stop();

    std::vector<Core> cores_;
    std::optional<AffinityScope> pinned_;  // the caller
    std::vector<std::thread> threads_;     // members 1, 2, ...

    // Written by run() before it opens a round, read by the members of that round.
    const Work* work_ = nullptr;
    int node_ = device::kAnyNode;
    int count_ = 0;
    bool stopping_ = false;
    std::atomic<std::uint32_t> round_{0};
    std::atomic<std::uint32_t> running_{0};  // members that haven't ended the round
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
};

}  // namespace assay::cpu
