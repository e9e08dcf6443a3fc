// A memory facility whose calls a test decides about: the fake device takes long over large arrays.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/memory.h"
#include "support/fake_device.h"

namespace assay::probes {

class HookedMemory final : public ops::Memory {
  public:
    // What a call does; `plain` is the fake device's own kernel, asked for the same. A call that
    // does nothing takes no time either.
    using Hook = std::function<void(device::Stream& stream, ops::PreparedMemory& plain,
                                    const ops::MemoryOperands& operands)>;
    HookedMemory(device::FakeDevice& fake, Hook hook) : fake_(fake), hook_(std::move(hook)) {}

    std::vector<ops::MemoryRequest> requests;

    std::vector<std::string> kernels(work::MemoryOp op) const override {
        return fake_.need<ops::Memory>().kernels(op);
    }
    std::uint64_t largest_slice() const override {
        return fake_.need<ops::Memory>().largest_slice();
    }
    std::uint64_t least_bytes() const override { return fake_.need<ops::Memory>().least_bytes(); }
    std::unique_ptr<ops::PreparedMemory> prepare(const ops::MemoryRequest& request) override {
        requests.push_back(request);
        return std::make_unique<Prepared>(hook_, fake_.need<ops::Memory>().prepare(request));
    }

  private:
    class Prepared final : public ops::PreparedMemory {
      public:
        Prepared(const Hook& hook, std::unique_ptr<ops::PreparedMemory> plain)
            : hook_(hook), plain_(std::move(plain)) {}
        const ops::Implementation& implementation() const override {
            return plain_->implementation();
        }
        void enqueue(device::Stream& stream, const ops::MemoryOperands& operands) override {
            hook_(stream, *plain_, operands);
        }
        double sum() override { return plain_->sum(); }

      private:
        const Hook& hook_;
        std::unique_ptr<ops::PreparedMemory> plain_;
    };

    device::FakeDevice& fake_;
    Hook hook_;
};

}  // namespace assay::probes
