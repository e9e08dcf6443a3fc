#include "probes/memory_transfer.h"

#include <cstring>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/transfer.h"
#include "probes/fake_bench.h"
#include "probes/memory.h"
#include "probes/transfer_check.h"

namespace assay::probes {
namespace {

const MemoryProbe kProbe;

record::Case transfer(const std::string& op, const std::string& host_memory = "pinned") {
    const std::map<std::string, std::string> values{
        {"op", op}, {"size", "64K"}, {"host-memory", host_memory}};
    return kProbe.expand(options_of(kProbe, values), {}).at(0);
}

// The fake device's transfers, after which a test may meddle with the ends.
class Meddled final : public ops::Transfer {
  public:
    using Meddle = std::function<void(std::size_t call, const std::vector<ops::TransferEnds>&)>;
    Meddled(device::FakeDevice& fake, Meddle meddle) : fake_(fake), meddle_(std::move(meddle)) {}
    std::vector<ops::TransferRequest> requests;

    std::unique_ptr<ops::PreparedTransfer> prepare(const ops::TransferRequest& request) override {
        requests.push_back(request);
        return std::make_unique<Prepared>(*this, fake_.need<ops::Transfer>().prepare(request));
    }

  private:
    class Prepared final : public ops::PreparedTransfer {
      public:
        Prepared(Meddled& owner, std::unique_ptr<ops::PreparedTransfer> plain)
            : owner_(owner), plain_(std::move(plain)) {}
        const ops::Implementation& implementation() const override {
            return plain_->implementation();
        }
        void enqueue(device::Stream& stream) override {
            plain_->enqueue(stream);
            const double now = owner_.fake_.now();
            owner_.fake_.queue_call(now, [this] { owner_.meddle_(calls_++, plain_->ends()); });
        }
        bool waits() const override { return plain_->waits(); }
        std::vector<ops::TransferEnds> ends() const override { return plain_->ends(); }

      private:
        Meddled& owner_;
        std::unique_ptr<ops::PreparedTransfer> plain_;
        std::size_t calls_ = 0;
    };

    device::FakeDevice& fake_;
    Meddle meddle_;
};

TEST(MemoryTransfer, CountsWhatMoves) {
    const struct {
        const char* op;
        double moved, ends;
        const char* says;
    } rows[]{{"host_to_device", 1, 1, "bytes copied"},
             {"device_to_host", 1, 1, "bytes copied"},
             {"both_ways", 2, 2, "to the device + bytes to the host"},
             {"device_to_device", 2, 1, "read + bytes written"}};
    for (const auto& row : rows) {
        SCOPED_TRACE(row.op);
        FakeBench bench;  // a call takes 1 ms
        const auto result = bench.run(kProbe, transfer(row.op));
        ASSERT_EQ(result.checks.size(), 2U);
        EXPECT_EQ(result.checks[0].name, "answer");
        EXPECT_EQ(result.checks[1].name, "answer under load");
        for (const auto& check : result.checks) EXPECT_TRUE(check.passed) << check.detail;
        EXPECT_EQ(result.conditions.footprint_bytes, static_cast<std::uint64_t>(row.ends) << 17);
        const auto metrics = kProbe.metrics(result);
        const auto* bandwidth = find_metric(metrics, "bandwidth");
        EXPECT_EQ(bandwidth->unit, "GB/s");
        EXPECT_NEAR(bandwidth->value, row.moved * 65536 / 1e-3 / 1e9, 1e-9);
        EXPECT_NE(bandwidth->definition.find(row.says), std::string::npos) << bandwidth->definition;
        EXPECT_NEAR(find_metric(metrics, "time")->value, 1e-3, 1e-9);
    }
}

TEST(MemoryTransfer, APageableOneIsNeverHeld) {
    FakeBench bench;  // which throws when it is
    const auto result = bench.run(kProbe, transfer("both_ways", "pageable"));
    EXPECT_FALSE(result.launches.empty());
}

TEST(MemoryTransfer, AsksForTheMemoryAndNodeOfTheCase) {
    FakeBench bench;
    Meddled meddled(bench.fake, [](std::size_t, const auto&) {});
    bench.device.patches["transfer"] = &meddled;
    bench.run(kProbe, transfer("host_to_device"));
    auto what = transfer("device_to_host", "pageable");
    bench.run(kProbe, what.set("nodes", "3", "local"));
    ASSERT_EQ(meddled.requests.size(), 2U);
    EXPECT_EQ(meddled.requests[0].what, work::Transfer::host_to_device);
    EXPECT_EQ(meddled.requests[0].bytes, 65536U);
    EXPECT_EQ(meddled.requests[0].host, work::HostMemory::pinned);
    EXPECT_EQ(meddled.requests[0].node, device::kAnyNode);
    EXPECT_EQ(meddled.requests[1].host, work::HostMemory::pageable);
    EXPECT_EQ(meddled.requests[1].node, 3);
}

TEST(MemoryTransfer, IsSkippedWhereTheDeviceHasNone) {
    FakeBench bench;
    bench.fake.script.lacks = {"transfer"};
    EXPECT_EQ(message_of<Unsupported>([&] { bench.run(kProbe, transfer("both_ways")); }),
              "device fake:0 has no transfer");
}

TEST(MemoryTransfer, AWrongCopyHasNoSpeed) {
    for (const auto op : work::all_transfers()) {
        FakeBench bench;
        bench.fake.script.wrong_by = 1;  // its last byte
        const auto result = bench.run(kProbe, transfer(std::string(work::name(op))));
        ASSERT_EQ(result.checks.size(), 1U) << work::name(op);
        EXPECT_FALSE(result.checks[0].passed) << work::name(op);
        EXPECT_TRUE(result.launches.empty());
    }
}

TEST(MemoryTransfer, ACopyThatGoesWrongUnderLoadIsFound) {
    FakeBench bench;
    Meddled meddled(bench.fake, [](std::size_t call, const auto& ends) {
        if (call > 0) static_cast<unsigned char*>(ends[0].to)[0] ^= 0x80U;
    });
    bench.device.patches["transfer"] = &meddled;
    const auto result = bench.run(kProbe, transfer("host_to_device"));
    EXPECT_TRUE(find_check(result, "answer")->passed);
    EXPECT_FALSE(find_check(result, "answer under load")->passed);
}

class Checked : public testing::TestWithParam<work::Transfer> {
  protected:
    static constexpr std::uint64_t kBytes = 1 << 20;
    device::FakeDevice fake_;
    std::unique_ptr<ops::PreparedTransfer> transfer_ =
        fake_.need<ops::Transfer>().prepare({GetParam(), kBytes});
    TransferCheck check_{fake_, *transfer_, kBytes, 7};

    void run() {
        const auto stream = fake_.create_stream();
        transfer_->enqueue(*stream);
        stream->synchronize();
    }
};

TEST_P(Checked, PassesARightCopyAndNothingElse) {
    EXPECT_FALSE(check_.compare("before").passed) << "nothing was copied";
    run();
    EXPECT_TRUE(check_.compare("after").passed) << check_.compare("after").detail;
    check_.poison();
    EXPECT_FALSE(check_.compare("poisoned").passed) << "an earlier copy's words don't count";
    run();
    EXPECT_TRUE(check_.compare("again").passed);
}

TEST_P(Checked, FindsWhatWasMovedToAnotherPlace) {
    run();
    for (const auto& ends : transfer_->ends()) {
        auto* to = static_cast<std::byte*>(ends.to);
        std::memmove(to, to + 4, kBytes - 4);
        EXPECT_FALSE(check_.compare("shifted").passed);
        run();
    }
}

TEST_P(Checked, FindsAHalfThatIsMissing) {
    check_.poison();
    for (const auto& ends : transfer_->ends()) {
        std::memcpy(ends.to, ends.from, kBytes / 2);
    }
    const auto check = check_.compare("half");
    EXPECT_FALSE(check.passed);
    EXPECT_NE(check.detail.find("word 131"), std::string::npos) << check.detail;  // of 262144
}

INSTANTIATE_TEST_SUITE_P(Transfer, Checked, testing::ValuesIn(work::all_transfers()),
                         [](const auto& each) { return std::string(work::name(each.param)); });

TEST(TransferCheck, FindsDirectionsThatAreExchanged) {
    device::FakeDevice fake;
    const auto transfer = fake.need<ops::Transfer>().prepare({work::Transfer::both_ways, 4096});
    const TransferCheck check(fake, *transfer, 4096, 7);
    const auto ends = transfer->ends();
    std::memcpy(ends[0].to, ends[1].from, 4096);
    std::memcpy(ends[1].to, ends[0].from, 4096);
    EXPECT_FALSE(check.compare("exchanged").passed);
}

}  // namespace
}  // namespace assay::probes
