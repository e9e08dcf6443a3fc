// A folder that stands for / with the few files of /proc and /sys that a test is about.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>

namespace assay::cpu {

class FixtureRoot {
  public:
    FixtureRoot() {
        std::string name = testing::TempDir() + "assay-root-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
        path_ = name;
    }
    ~FixtureRoot() {
        std::error_code none;
        std::filesystem::remove_all(path_, none);
    }
    FixtureRoot(const FixtureRoot&) = delete;
    FixtureRoot& operator=(const FixtureRoot&) = delete;

    FixtureRoot& file(const std::string& name, std::string_view content) {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << content;
        return *this;
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace assay::cpu
