// A folder for stores, records to put in them, and child processes to put them there.
#pragma once

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "record/run.h"
#include "store/sqlite_store.h"

namespace assay::store {

inline record::Run run_head() {
    record::Run run;
    run.id = record::new_run_id();
    run.started = "2026-11-30T22:11:07Z";
    run.command = {"assay", "gemm"};
    run.suite = "quick";
    run.provenance.host = "here";
    return run;
}

// Tells its index by its case, its first sample and its metric.
inline record::Result numbered_result(int index, std::size_t samples = 100) {
    record::Result result;
    result.probe = "gemm";
    result.device = "cpu";
    result.conditions.protocol = "boost";
    result.what.set("m", index);
    record::Launch& launch = result.launches.emplace_back();
    launch.samples["time"] = {"s", std::vector<double>(samples, 1.0 / 3)};
    launch.samples["time"].values.front() = index;
    result.metrics.emplace_back().value = index;
    return result;
}

// A process of its own that runs `body`; its failed expectations are ours.
class Child {
  public:
    template <typename Body>
    explicit Child(Body body) {
        std::fflush(nullptr);
        pid_ = fork();
        if (pid_ != 0) return;
        try {
            body();
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        std::fflush(nullptr);
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }

    pid_t pid() const { return pid_; }
    int wait() const {
        int status = 0;
        waitpid(pid_, &status, 0);
        return status;
    }

  private:
    pid_t pid_;
};

template <typename Action>
std::string error_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_FALSE(error.hint().empty()) << error.what();
        return error.what();
    }
    return "no error";
}

class StoreFile : public testing::Test {
  protected:
    void SetUp() override {
        folder_ =
            std::filesystem::path(testing::TempDir()) / ("assay-store-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder_);
        path_ = folder_ / "assay.db";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_, path_;
};

}  // namespace assay::store
