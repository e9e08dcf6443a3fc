#include "store/store.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>

#include "store/store_fixture.h"

namespace assay::store {
namespace {

using testing::HasSubstr;

class StoreUrl : public StoreFile {};

TEST_F(StoreUrl, NoneKeepsNothing) {
    const auto store = open_store("none");
    const record::Run run = run_head();
    store->begin(run);
    store->add(run.id, numbered_result(1));
    store->end(run);
    EXPECT_TRUE(store->runs().empty());
    EXPECT_TRUE(store->history(numbered_result(1).identity()).empty());
    EXPECT_THROW(store->load(run.id), UsageError);
    EXPECT_EQ(store->describe(), "none");
}

TEST_F(StoreUrl, EmptyIsTheUsersOwnStore) {
    setenv("XDG_DATA_HOME", folder_.c_str(), 1);
    const std::string place = open_store("")->describe();
    unsetenv("XDG_DATA_HOME");
    EXPECT_EQ(place, (folder_ / "assay" / "assay.db").string());
    EXPECT_TRUE(std::filesystem::exists(place));
}

TEST_F(StoreUrl, PathAndSqliteUrlAreTheSameFile) {
    const record::Run run = run_head();
    open_store(path_.string())->begin(run);
    EXPECT_EQ(open_store("sqlite:" + path_.string())->load(run.id).id, run.id);
}

TEST_F(StoreUrl, MakesTheFoldersAbove) {
    open_store((folder_ / "a" / "b" / "results").string());
    EXPECT_TRUE(std::filesystem::exists(folder_ / "a" / "b" / "results"));
}

TEST_F(StoreUrl, UnknownSchemeIsAUsageErrorThatHidesPasswords) {
    try {
        open_store("postgresql://me:secret@host/db");
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(), "no store \"postgresql:...\"");
        EXPECT_THAT(error.hint(), HasSubstr("sqlite:PATH"));
    }
    EXPECT_THROW(open_store("sqlite:"), UsageError);
}

TEST_F(StoreUrl, AColonInAPathIsNoScheme) {
    EXPECT_EQ(open_store((folder_ / "a:b").string())->describe(), (folder_ / "a:b").string());
}

TEST_F(StoreUrl, AFolderIsNoStore) {
    EXPECT_THAT(error_of([&] { open_store(folder_.string()); }),
                HasSubstr(folder_.string() + ": this is a folder"));
}

TEST_F(StoreUrl, AFileInPlaceOfItsFolderIsNamed) {
    std::ofstream(folder_ / "file") << "text";
    EXPECT_THAT(error_of([&] { open_store((folder_ / "file" / "assay.db").string()); }),
                HasSubstr("its folder can't be made"));
}

}  // namespace
}  // namespace assay::store
