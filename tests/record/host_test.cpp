#include "record/host.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "record/provenance.h"

namespace assay::record {
namespace {

namespace fs = std::filesystem;

// A root folder with the files a test plants.
class Host : public testing::Test {
  protected:
    void SetUp() override {
        root_ = fs::path(testing::TempDir()) / ("assay-host-" + std::to_string(getpid()));
        fs::create_directories(root_);
    }
    void TearDown() override { fs::remove_all(root_); }

    void plant(const std::string& file, const std::string& content) {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << content;
    }

    fs::path root_;
};

TEST_F(Host, SystemNamesDistributionAndKernel) {
    EXPECT_EQ(system_name(root_), "");
    plant("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
    EXPECT_EQ(system_name(root_), "Linux 6.1.0-13-amd64");
    plant("usr/lib/os-release", "NAME=x\nPRETTY_NAME=Plain\n");
    EXPECT_EQ(system_name(root_), "Plain, Linux 6.1.0-13-amd64");
    plant("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n");
    EXPECT_EQ(system_name(root_), "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-13-amd64");
}

TEST_F(Host, BareMachineHasNoContainer) {
    plant("proc/self/cgroup", "0::/user.slice/session-1.scope\n");
    EXPECT_EQ(container_kind(root_, {}), "none");
}

TEST_F(Host, TellsContainersByTheirFiles) {
    plant(".dockerenv", "");
    EXPECT_EQ(container_kind(root_, {}), "docker");
    plant("run/.containerenv", "");
    EXPECT_EQ(container_kind(root_, {}), "podman");
    fs::create_directories(root_ / "var/run/secrets/kubernetes.io");
    EXPECT_EQ(container_kind(root_, {}), "kubernetes");
}

TEST_F(Host, TellsContainersByTheirControlGroup) {
    for (const auto& [group, kind] : std::map<std::string, std::string>{
             {"12:cpu:/docker/0123abcd", "docker"},
             {"12:cpu:/lxc/guest", "lxc"},
             {"0::/machine.slice/libpod-0123.scope", "podman"},
             {"0::/kubepods.slice/kubepods-burstable.slice/pod1/docker-0123.scope",
              "kubernetes"}}) {
        plant("proc/self/cgroup", group + "\n");
        EXPECT_EQ(container_kind(root_, {}), kind) << group;
    }
}

TEST_F(Host, TellsContainersByWhatTheirManagerSays) {
    EXPECT_EQ(container_kind(root_, {{"container", "lxc"}}), "lxc");
    EXPECT_EQ(container_kind(root_, {{"APPTAINER_CONTAINER", "image.sif"}}), "apptainer");
    EXPECT_EQ(container_kind(root_, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}), "kubernetes");
    plant("run/systemd/container", "systemd-nspawn\n");
    EXPECT_EQ(container_kind(root_, {}), "systemd-nspawn");
}

TEST_F(Host, KeepsVariablesThatChangeNumbers) {
    const Settings kept = environment_settings({{"OMP_NUM_THREADS", "2"},
                                                {"LD_PRELOAD", "/lib/libjemalloc.so"},
                                                {"NCCL_ALGO", "Ring"},
                                                {"HOME", "/root"},
                                                {"LD_DEBUG", "all"},
                                                {"PATH", "/bin"}});
    const Settings expected = {
        {"LD_PRELOAD", "/lib/libjemalloc.so"}, {"NCCL_ALGO", "Ring"}, {"OMP_NUM_THREADS", "2"}};
    EXPECT_EQ(kept, expected);
}

TEST_F(Host, LeavesSecretsOut) {
    const Settings kept =
        environment_settings({{"ASSAY_STORE", "postgresql://me:pass@word@host:5432/db?a=b@c"},
                              {"ASSAY_API_KEY", "sk-1"},
                              {"ASSAY_PEER", "http://host/a@b"}});
    EXPECT_EQ(kept.at("ASSAY_STORE"), "postgresql://(left out)@host:5432/db?a=b@c");
    EXPECT_EQ(kept.at("ASSAY_API_KEY"), "(left out)");
    EXPECT_EQ(kept.at("ASSAY_PEER"), "http://host/a@b");
}

TEST_F(Host, ReadsKernelSettings) {
    EXPECT_TRUE(kernel_settings(root_).empty());
    plant("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    plant("sys/devices/system/cpu/smt/control", "on\n");
    plant("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
    plant("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n");
    plant("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave\n");
    plant("proc/sys/kernel/numa_balancing", "1\n");
    plant("proc/cmdline", "root=/dev/sda1 mitigations=off quiet isolcpus=2-3\n");
    const Settings expected = {{"boot_parameters", "mitigations=off isolcpus=2-3"},
                               {"frequency_governor", "performance, powersave"},
                               {"numa_balancing", "1"},
                               {"smt_control", "on"},
                               {"transparent_hugepage", "madvise"}};
    EXPECT_EQ(kernel_settings(root_), expected);
}

TEST_F(Host, KnowsTheNodesThatHaveMemory) {
    EXPECT_TRUE(memory_nodes(root_).empty());
    plant("sys/devices/system/node/online", "0-3\n");
    EXPECT_EQ(memory_nodes(root_), (std::vector<int>{0, 1, 2, 3}));
    plant("sys/devices/system/node/has_memory", "0-1,3\n");
    EXPECT_EQ(memory_nodes(root_), (std::vector<int>{0, 1, 3}));
    plant("sys/devices/system/node/has_memory", "0\n");
    EXPECT_EQ(memory_nodes(root_), std::vector<int>{0});
}

TEST_F(Host, ProvenanceTellsOfThisProcess) {
    setenv("OMP_NUM_THREADS", "3", 1);
    const Provenance provenance = collect_provenance();
    unsetenv("OMP_NUM_THREADS");
    EXPECT_EQ(provenance.settings.at("OMP_NUM_THREADS"), "3");
    EXPECT_NE(provenance.system.find("Linux "), std::string::npos);
    EXPECT_FALSE(provenance.host.empty());
    EXPECT_FALSE(provenance.container.empty());
    EXPECT_FALSE(provenance.program_version.empty());
    EXPECT_FALSE(provenance.program_build.empty());
}

}  // namespace
}  // namespace assay::record
