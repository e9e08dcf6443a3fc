#include "device/loader.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/expect_error.h"
#include "base/scratch.h"

namespace assay::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kModules = ASSAY_BINARY_DIR "/tests/device/modules";

std::string module_file(const std::string& kind) {
    return kModules + "/libassay_" + kind + ".so";
}

class Loader : public testing::Test {
  protected:
    Loader() { use(kModules); }
    ~Loader() override { ::unsetenv("ASSAY_MODULE_PATH"); }

    static void use(const std::string& path) { ::setenv("ASSAY_MODULE_PATH", path.c_str(), 1); }
    // A text that says it is a module.
    std::string pretend(const std::string& kind) {
        const auto path = scratch_ / ("libassay_" + kind + ".so");
        std::ofstream(path) << "not a library\n";
        return path;
    }
    void link(const std::string& kind, const std::string& as) {
        std::filesystem::create_symlink(module_file(kind), scratch_ / ("libassay_" + as + ".so"));
    }
    // The module folder is this test's, ahead of the one with all modules.
    void use_scratch(const std::string& more = "") { use(scratch_.path().string() + ':' + more); }

    Scratch scratch_;
};

std::vector<std::string> kinds() {
    std::vector<std::string> result;
    for (const auto& module : find_modules()) result.push_back(module.kind);
    return result;
}

TEST_F(Loader, FindsModulesByTheirFileNames) {
    for (const char* name : {"libassay_.so", "libassay_Fake.so", "libassay_a-b.so", "assay_x.so",
                             "libassay_y.so.1", "libassay_z.a"}) {
        std::ofstream(scratch_ / name) << "";
    }
    pretend("zzz9");
    use_scratch();
    const auto found = kinds();
    EXPECT_THAT(found, testing::Contains("zzz9"));
    for (const char* kind : {"", "Fake", "a-b", "x", "y", "z"}) {
        EXPECT_THAT(found, testing::Not(testing::Contains(kind)));
    }
}

TEST_F(Loader, TheFirstFolderOfThePathWins) {
    const auto mine = pretend("fake");
    use_scratch("/no/such/folder:" + kModules);
    for (const auto& module : find_modules()) {
        if (module.kind == "fake") {
            EXPECT_EQ(module.file, mine);
        } else if (module.kind == "none") {
            EXPECT_EQ(module.file, module_file("none"));
        }
    }
    EXPECT_THAT(kinds(), testing::IsSupersetOf({"fake", "none", "throws"}));
}

TEST_F(Loader, OpensAModuleOnceAndKeepsIt) {
    Module& module = open_module("fake");
    EXPECT_EQ(&open_module("fake"), &module);
    EXPECT_EQ(module.software().at(0).name, "fake");
}

TEST_F(Loader, OpensADeviceById) {
    const auto device = open_device("fake:0");
    EXPECT_EQ(device->facts().id, "fake:0");
}

TEST_F(Loader, ErrorsOfAModuleAreTheCoresOwn) {
    expect_error<DeviceLost>([] { open_device("fake:1"); }, "fake:1 fell off the bus", "restart");
}

TEST_F(Loader, AnUnknownKindListsTheModulesFound) {
    expect_error<UsageError>([] { open_module("tpu"); }, R"(no module for device "tpu")",
                             "fake, none, nosymbol, otherabi, throws");
    EXPECT_THROW(open_module("../fake"), UsageError);
}

TEST_F(Loader, AFileThatIsNoLibraryIsNamed) {
    const auto file = pretend("text");
    use_scratch();
    try {
        open_module("text");
        FAIL() << "loaded a text";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::StartsWith("can't load module " + file + ": "));
        EXPECT_THAT(std::string(error.what()).substr(file.size() + 20),
                    testing::Not(HasSubstr(file)));
        EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
        EXPECT_THAT(error.hint(), HasSubstr("rebuild"));
    }
}

TEST_F(Loader, ALibraryWithoutTheSymbolIsNamed) {
    expect_error<Error>(
        [] { open_module("nosymbol"); },
        module_file("nosymbol") + " is no module of assay: it has no symbol assay_module",
        "rebuild");
}

TEST_F(Loader, AnotherAbiNamesBothNumbers) {
    expect_error<Error>([] { open_module("otherabi"); },
                        fmt::format("module {} has ABI {}, this program has {}",
                                    module_file("otherabi"), kModuleAbi + 1, kModuleAbi),
                        "rebuild");
}

TEST_F(Loader, AModuleUnderAnothersNameIsRefused) {
    link("none", "renamed");
    use_scratch();
    expect_error<Error>([] { open_module("renamed"); },
                        fmt::format("module {} says that it is of kind \"none\"",
                                    (scratch_ / "libassay_renamed.so").string()),
                        "libassay_KIND.so");
}

TEST_F(Loader, AModuleThatFailsToStartKeepsItsReason) {
    const auto message = "module " + module_file("throws") + " failed to start: ";
    expect_error<Error>([] { open_module("throws"); }, message + "no driver", "install one");
    ::setenv("ASSAY_TEST_FOREIGN", "1", 1);
    expect_error<Error>([] { open_module("throws"); }, message + "out of handles", "remove");
    ::unsetenv("ASSAY_TEST_FOREIGN");
}

TEST_F(Loader, ResolvesOneAndAll) {
    EXPECT_THAT(resolve_devices("fake"), ElementsAre("fake:0"));
    EXPECT_THAT(resolve_devices("fake:1"), ElementsAre("fake:1"));
    EXPECT_THAT(resolve_devices("fake:all"), ElementsAre("fake:0", "fake:1"));
}

TEST_F(Loader, ADeviceThatIsNotThereSaysHowManyAre) {
    const auto missing = "no device fake:7: there are 2, fake:0 to fake:1";
    expect_error<UsageError>([] { resolve_devices("fake:7"); }, missing, "assay info");
    expect_error<UsageError>([] { open_device("fake:7"); }, missing, "assay info");
    for (const char* spec : {"none", "none:all", "none:0"}) {
        expect_error<UsageError>(
            [&] { resolve_devices(spec); },
            "there is no none device here: the driver is too old: 470 found, 580 needed",
            "assay info");
    }
    expect_error<UsageError>([] { open_device("fake:all"); }, R"("fake:all" isn't one device)",
                             "name one");
}

TEST_F(Loader, BestIsTheFirstAcceleratorWithADevice) {
    // These shadow real modules, so that the test gives the same on a machine with accelerators.
    const auto cuda = pretend("cuda");
    pretend("hip");
    pretend("aaa");
    link("fake", "fake");
    link("none", "none");
    use_scratch();
    std::vector<std::string> passed_over;
    EXPECT_THAT(resolve_devices("best", &passed_over), ElementsAre("fake:0"));
    ASSERT_EQ(passed_over.size(), 3U);
    EXPECT_THAT(passed_over[0], HasSubstr("cuda: can't load module " + cuda));
    EXPECT_THAT(passed_over[1], testing::StartsWith("hip: "));
    EXPECT_THAT(passed_over[2], testing::StartsWith("aaa: "));
}

TEST_F(Loader, BestIsTheProcessorWhereNoAcceleratorIs) {
    pretend("cuda");
    pretend("hip");
    link("none", "none");
    link("cpu", "cpu");
    use_scratch();
    std::vector<std::string> passed_over;
    EXPECT_THAT(resolve_devices("best", &passed_over), ElementsAre("cpu"));
    ASSERT_EQ(passed_over.size(), 3U);
    EXPECT_EQ(passed_over[2], "none: the driver is too old: 470 found, 580 needed");
    EXPECT_THAT(resolve_devices("best"), ElementsAre("cpu"));
    EXPECT_THAT(resolve_devices("cpu"), ElementsAre("cpu"));
    expect_error<UsageError>([] { resolve_devices("cpu:4"); }, "no device cpu:4: there is 1, cpu",
                             "assay info");
}

TEST(ParseDevice, ReadsEveryForm) {
    const auto expect = [](std::string_view text, const std::string& kind, int index) {
        const auto spec = parse_device(text);
        EXPECT_EQ(spec.kind, kind) << text;
        EXPECT_EQ(spec.index, index) << text;
    };
    expect("best", "", 0);
    expect("cpu", "cpu", 0);
    expect("cuda:0", "cuda", 0);
    expect("cuda:15", "cuda", 15);
    expect("cuda:all", "cuda", -1);
}

TEST(ParseDevice, RejectsTheRest) {
    for (const std::string text :
         {"", ":", "cuda:", "cuda:-1", "cuda:+1", "cuda:1x", "cuda:1:2", "cuda:99999999999", "CUDA",
          "cuda 0", "../cuda", "best:0", ":0"}) {
        expect_error<UsageError>([&] { parse_device(text); }, "malformed device \"" + text + '"',
                                 "cuda:all");
    }
}

}  // namespace
}  // namespace assay::device
