// The facilities of the fake device, computed plainly on the host.
#pragma once

#include "ops/clock_stamps.h"
#include "ops/fill.h"
#include "ops/matmul.h"
#include "ops/memory.h"
#include "ops/transfer.h"
#include "support/fake_device.h"

namespace assay::device {

class FakeFill final : public ops::Fill {
  public:
    void enqueue(Stream& stream, const work::FillSpec& spec, work::Type type, std::uint64_t count,
                 void* out) override;
};

class FakeMatmul final : public ops::Matmul {
  public:
    explicit FakeMatmul(const FakeScript& script) : script_(script) {}
    std::unique_ptr<ops::PreparedMatmul> prepare(const work::Matmul& problem,
                                                 const ops::MatmulChoice& choice) override;
    std::vector<std::string> entries() const override;
    std::vector<std::string> algorithms(const work::Matmul& problem,
                                        std::size_t enumerated) override;

  private:
    const FakeScript& script_;
};

class FakeMemory final : public ops::Memory {
  public:
    explicit FakeMemory(const FakeScript& script) : script_(script) {}
    std::vector<std::string> kernels(work::MemoryOp) const override { return script_.kernels; }
    std::uint64_t largest_slice() const override { return script_.largest_slice; }
    std::uint64_t least_bytes() const override { return script_.least_bytes; }
    std::unique_ptr<ops::PreparedMemory> prepare(const ops::MemoryRequest& request) override;

  private:
    const FakeScript& script_;
};

// Host memory is plain memory; a copy of pageable memory throws std::logic_error on a held stream,
// where a GPU's would never come back.
class FakeTransfer final : public ops::Transfer {
  public:
    explicit FakeTransfer(FakeDevice& device) : device_(device) {}
    std::unique_ptr<ops::PreparedTransfer> prepare(const ops::TransferRequest& request) override;

  private:
    FakeDevice& device_;
};

// A stamp takes 5 us; the clock between two is the script's in the middle.
class FakeClockStamps final : public ops::ClockStamps {
  public:
    explicit FakeClockStamps(const FakeScript& script) : script_(script) {}
    void reserve(std::size_t count) override { times_.assign(count, 0); }
    void enqueue(Stream& stream, std::size_t index) override;
    std::vector<double> clock_mhz(std::size_t count) override;

  private:
    const FakeScript& script_;
    std::vector<double> times_;
};

}  // namespace assay::device
