// Attention on the GPU, against the oracle.
#include "ops/attention.h"

#include <string>

#include <gmock/gmock.h>

#include "attention_arrays.h"
#include "attention_cases.h"
#include "base/error.h"
#include "device_under_test.h"
#include "work/fill.h"

namespace assay::cuda {
namespace {

using testing::Contains;
using testing::HasSubstr;
using work::AttentionPass;
using work::Type;

constexpr const char* kGeneric = "generic";

// An example's arrays in the device's memory.
class OnDevice {
  public:
    OnDevice(device::Device& device, AttentionExample& example)
        : device_(device), example_(example) {
        auto& arrays = example.arrays();
        for (auto* array : {&arrays.q, &arrays.k, &arrays.v, &arrays.bias, &arrays.o, &arrays.lse,
                            &arrays.d_o, &arrays.d_q, &arrays.d_k, &arrays.d_v}) {
            host_.push_back(array);
            buffers_.push_back(device.allocate(array->size()));
            if (!array->empty())
                device.copy_in(buffers_.back()->data(), array->data(), array->size());
        }
    }

    ops::AttentionOperands operands() {
        const auto address = [&](std::size_t i) -> void* {
            if (host_[i]->empty()) return nullptr;
            return static_cast<unsigned char*>(buffers_[i]->data()) + example_.offset();
        };
        auto* lse = static_cast<float*>(buffers_[5]->data()) +
                    example_.offset() / work::size_of(example_.problem().type);
        return {address(0), address(1), address(2), address(3), address(4),
                lse,        address(6), address(7), address(8), address(9)};
    }

    void copy_back() {
        for (std::size_t i = 0; i < host_.size(); ++i) {
            if (!host_[i]->empty()) {
                device_.copy_out(host_[i]->data(), buffers_[i]->data(), host_[i]->size());
            }
        }
    }

  private:
    device::Device& device_;
    AttentionExample& example_;
    std::vector<std::vector<unsigned char>*> host_;
    std::vector<std::unique_ptr<device::Buffer>> buffers_;
};

class CudaAttentionOnDevice : public WithGpu {
  protected:
    std::unique_ptr<ops::PreparedAttention> prepare(const work::Attention& problem,
                                                    AttentionPass pass) {
        return device().need<ops::Attention>().prepare(problem, pass, kGeneric);
    }
    void run(AttentionExample& example, AttentionPass pass) {
        OnDevice on_device(device(), example);
        const auto prepared = prepare(example.problem(), pass);
        const auto stream = device().create_stream();
        prepared->enqueue(*stream, on_device.operands());
        stream->synchronize();
        on_device.copy_back();
    }
};

// Small ones of every kind, which tests/gpu/sanitize.sh runs too.
class CudaAttentionOfType : public CudaAttentionOnDevice,
                            public testing::WithParamInterface<Type> {};

TEST_P(CudaAttentionOfType, AgreesWithTheOracle) {
    for (const auto& test : device_cases(GetParam())) {
        SCOPED_TRACE(test.name);
        AttentionExample example(test.problem, test.shift);
        run(example, AttentionPass::forward);
        EXPECT_EQ(example.forward_mistake(), "");
        run(example, AttentionPass::backward);  // of what the forward pass gave
        EXPECT_EQ(example.backward_mistake(), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaAttentionOfType,
                         testing::Values(Type::fp32, Type::bf16, Type::fp16),
                         [](const auto& type) { return std::string(work::name(type.param)); });

// Many tiles and blocks at once.
TEST_F(CudaAttentionOnDevice, AgreesWithTheOracleAtLength) {
    for (const std::int64_t dim : {64, 128}) {
        work::Attention problem{.batch = 2,
                                .heads = 4,
                                .kv_heads = 2,
                                .queries = 701,
                                .keys = 701,
                                .dim = dim,
                                .value_dim = dim};
        problem.mask.causal = true;
        work::lay_out(problem, work::AttentionLayout::bshd);
        AttentionExample example(problem);
        run(example, AttentionPass::forward);
        EXPECT_EQ(example.forward_mistake(), "");
        run(example, AttentionPass::backward);
        EXPECT_EQ(example.backward_mistake(), "");
    }
}

// What a query can't see leaves no trace, to the bit.
TEST_F(CudaAttentionOnDevice, IsCausalToTheBit) {
    constexpr std::int64_t kLength = 300, kChanged = 177, kDim = 128;
    for (const auto type : {Type::bf16, Type::fp16, Type::fp32}) {
        work::Attention problem{.heads = 2,
                                .kv_heads = 1,
                                .queries = kLength,
                                .keys = kLength,
                                .dim = kDim,
                                .value_dim = kDim,
                                .type = type};
        problem.mask.causal = true;
        work::lay_out(problem, work::AttentionLayout::bhsd);
        AttentionExample one(problem), other(problem);
        auto& arrays = other.arrays();
        const auto row = static_cast<std::size_t>(kDim) * work::size_of(type);
        for (auto* array : {&arrays.k, &arrays.v}) {
            for (std::size_t i = kChanged * row; i < kLength * row; i += work::size_of(type)) {
                work::store(type, 100, array->data() + i);
            }
        }
        run(one, AttentionPass::forward);
        run(other, AttentionPass::forward);
        for (std::size_t head = 0; head < 2; ++head) {
            const auto begin = static_cast<std::ptrdiff_t>(head * kLength * row);
            const auto end = begin + static_cast<std::ptrdiff_t>(kChanged * row);
            const auto& o = one.arrays().o;
            EXPECT_TRUE(std::equal(o.begin() + begin, o.begin() + end, arrays.o.begin() + begin));
        }
        EXPECT_NE(one.arrays().o, arrays.o);
    }
}

TEST_F(CudaAttentionOnDevice, RunsInAGraph) {
    for (const auto type : {Type::bf16, Type::fp32}) {
        const auto test = attention_cases(type)[2];
        AttentionExample example(test.problem);
        OnDevice on_device(device(), example);
        const auto forward = prepare(example.problem(), AttentionPass::forward);
        const auto backward = prepare(example.problem(), AttentionPass::backward);
        const auto stream = device().create_stream();
        const auto graph = stream->capture([&] {
            forward->enqueue(*stream, on_device.operands());
            backward->enqueue(*stream, on_device.operands());
        });
        for (int i = 0; i < 2; ++i) graph->launch(*stream);
        stream->synchronize();
        on_device.copy_back();
        EXPECT_EQ(example.forward_mistake(), "") << test.name;
        EXPECT_EQ(example.backward_mistake(), "") << test.name;
    }
}

// Code that isn't loaded yet would wait behind a held stream for ever.
TEST_F(CudaAttentionOnDevice, RunsBehindAHeldStream) {
    const auto test = attention_cases(Type::bf16)[0];
    AttentionExample example(test.problem);
    OnDevice on_device(device(), example);
    const auto forward = prepare(example.problem(), AttentionPass::forward);
    const auto backward = prepare(example.problem(), AttentionPass::backward);
    const auto stream = device().create_stream();
    stream->hold();
    forward->enqueue(*stream, on_device.operands());
    backward->enqueue(*stream, on_device.operands());
    stream->release();
    stream->synchronize();
    on_device.copy_back();
    EXPECT_EQ(example.forward_mistake(), "");
    EXPECT_EQ(example.backward_mistake(), "");
}

// For tests/gpu/sanitize.sh: its race detector takes no larger ones.
TEST_F(CudaAttentionOnDevice, RunsEachKernelOf16Bits) {
    for (const auto type : {Type::bf16, Type::fp16}) {
        for (const auto& test : kernel_cases(type)) {
            SCOPED_TRACE(test.name);
            AttentionExample example(test.problem);
            run(example, AttentionPass::forward);
            EXPECT_EQ(example.forward_mistake(), "");
            run(example, AttentionPass::backward);
            EXPECT_EQ(example.backward_mistake(), "");
        }
    }
}

TEST_F(CudaAttentionOnDevice, SaysWhatItRunsAndRefuses) {
    auto& attention = device().need<ops::Attention>();
    EXPECT_THAT(attention.providers(), Contains(kGeneric));
    auto problem = attention_cases(Type::bf16)[2].problem;
    problem.modifier.alibi = true;  // nothing faster has it
    const auto prepared = prepare(problem, AttentionPass::backward);
    EXPECT_EQ(prepared->implementation().library, "assay");
    EXPECT_THAT(prepared->implementation().algorithm, HasSubstr("d128"));
    EXPECT_EQ(prepared->implementation().path, record::Path::portable);
    EXPECT_GT(prepared->implementation().workspace_bytes, 0U);
    EXPECT_THROW((void)attention.prepare(problem, AttentionPass::forward, "none"), Unsupported);
    problem.type = Type::fp64;
    EXPECT_THROW((void)prepare(problem, AttentionPass::forward), Unsupported);
}

// Of a problem that cuDNN takes, where it is there.
TEST_F(CudaAttentionOnDevice, IsTheFallbackOfWhatAFasterProviderTakes) {
    const auto problem = attention_cases(Type::bf16)[2].problem;
    bool faster = true;
    try {
        (void)device().need<ops::Attention>().prepare(problem, AttentionPass::backward, "cudnn");
    } catch (const Unsupported&) {
        faster = false;
    }
    const auto prepared = prepare(problem, AttentionPass::backward);
    EXPECT_EQ(prepared->implementation().path,
              faster ? record::Path::fallback : record::Path::portable)
        << prepared->implementation().note;
}

}  // namespace
}  // namespace assay::cuda
