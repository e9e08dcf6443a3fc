#include "measure/winners.h"

#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

class WinnersTest : public testing::Test {
  public:
    WinnersTest()
        : folder(fs::temp_directory_path() / ("assay-winners-" + std::to_string(::getpid()))) {
        fs::remove_all(folder);
    }
    ~WinnersTest() override { fs::remove_all(folder); }

    fs::path folder;
    fs::path file = folder / "cache" / "winners.json";
    const WinnerKey key{"NVIDIA H200", "cuBLASLt 13.1 /usr/lib/libcublasLt.so.13",
                        "m=3 n=5 k=7 dtype=bf16", "boost"};
};

TEST_F(WinnersTest, FindsWhatWasKeptInAnotherProcess) {
    EXPECT_EQ(Winners(file).find(key), std::nullopt);
    Winners(file).keep(key, "algo=66 tile=\"128x256\"");
    EXPECT_EQ(Winners(file).find(key), "algo=66 tile=\"128x256\"");
    Winners(file).keep(key, "algo=7");
    EXPECT_EQ(Winners(file).find(key), "algo=7");
}

TEST_F(WinnersTest, EveryPartOfTheKeyCounts) {
    Winners winners(file);
    winners.keep(key, "algo=1");
    for (const auto part :
         {&WinnerKey::device, &WinnerKey::library, &WinnerKey::problem, &WinnerKey::protocol}) {
        auto other = key;
        other.*part += " ";
        EXPECT_EQ(winners.find(other), std::nullopt);
        winners.keep(other, "algo=2");
        EXPECT_EQ(winners.find(other), "algo=2");
    }
    EXPECT_EQ(winners.find(key), "algo=1");
    EXPECT_EQ(winners.note(), "");
}

TEST_F(WinnersTest, ADamagedFileIsIgnoredWithANoteAndReplaced) {
    fs::create_directories(file.parent_path());
    for (const auto* damage :
         {"", "{", "[]", "{\"format\": \"assay-winners/1\"}", "\xff\xfe",
          "{\"format\": \"assay-winners/2\", \"winners\": []}",
          "{\"format\": \"assay-winners/1\", \"winners\": [{\"device\": 3}]}"}) {
        write_file(file, damage);
        Winners winners(file);
        EXPECT_EQ(winners.find(key), std::nullopt) << damage;
        EXPECT_NE(winners.note().find("winners.json was ignored: "), std::string::npos) << damage;
        winners.keep(key, "algo=1");
        Winners again(file);
        EXPECT_EQ(again.find(key), "algo=1");
        EXPECT_EQ(again.note(), "");
    }
}

TEST_F(WinnersTest, WritersAtTheSameTimeLoseNothing) {
    constexpr int kWriters = 8, kEach = 10;
    std::vector<std::thread> writers;
    for (int w = 0; w < kWriters; ++w) {
        writers.emplace_back([&, w] {
            for (int i = 0; i < kEach; ++i) {
                auto one = key;
                one.problem = std::to_string(w) + " " + std::to_string(i);
                Winners(file).keep(one, one.problem);
            }
        });
    }
    for (auto& writer : writers) writer.join();
    Winners winners(file);
    for (int w = 0; w < kWriters; ++w) {
        for (int i = 0; i < kEach; ++i) {
            auto one = key;
            one.problem = std::to_string(w) + " " + std::to_string(i);
            EXPECT_EQ(winners.find(one), one.problem);
        }
    }
}

TEST_F(WinnersTest, AFolderThatCannotBeMadeIsNamed) {
    fs::create_directories(folder);
    write_file(folder / "cache", "a file where the folder should be");
    try {
        Winners(file).keep(key, "algo=1");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find((folder / "cache").native()), std::string::npos);
        EXPECT_NE(error.hint().find("XDG_CACHE_HOME"), std::string::npos);
    }
}

TEST_F(WinnersTest, StandInTheUsersCache) {
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    EXPECT_EQ(Winners::default_file(), folder / "assay" / "winners.json");
    ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace assay::measure
