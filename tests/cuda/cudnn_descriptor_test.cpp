// What needs the library, but no GPU.
#include <array>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention_problem.h"
#include "base/error.h"
#include "cuda/cudnn/attention_graph.h"
#include "cuda/cudnn/descriptor.h"
#include "cuda/cudnn/facts.h"
#include "cuda/cudnn/operations.h"
#include "cuda/cudnn/plan.h"

namespace assay::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using work::AttentionPass;

class WithCudnn : public testing::Test {
  protected:
    void SetUp() override {
        try {
            Cudnn::instance();
        } catch (const Unsupported& missing) {
            GTEST_SKIP() << "needs cuDNN: " << missing.what();
        }
    }
};
using CudnnLibrary = WithCudnn;
using CudnnDescriptors = WithCudnn;
using CudnnGraphs = WithCudnn;

std::string complaint(const std::function<void()>& call) {
    try {
        call();
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST_F(CudnnLibrary, SaysWhatItIs) {
    const auto& library = Cudnn::instance();
    EXPECT_THAT(library.version(), MatchesRegex("9\\.[0-9]+\\.[0-9]+"));
    EXPECT_GE(library.number(), 90000U);
    const auto facts = cudnn_facts();
    EXPECT_EQ(facts.name, "cuDNN");
    EXPECT_EQ(facts.version, library.version());
    EXPECT_EQ(facts.file, library.file());
}

TEST_F(CudnnDescriptors, HoldAttributes) {
    CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor");
    const std::array<std::int64_t, 4> dims{2, 3, 4, 8}, strides{96, 32, 8, 1};
    tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_BFLOAT16);
    tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const std::int64_t>(dims));
    tensor.set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const std::int64_t>(strides));
    tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, std::int64_t{7});
    tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
    tensor.finalize();
    EXPECT_EQ(tensor.number(CUDNN_ATTR_TENSOR_UNIQUE_ID), 7);
}

TEST_F(CudnnDescriptors, ErrorsNameTheCallTheAttributeAndTheReason) {
    CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor");
    EXPECT_THAT(
        complaint([&] { tensor.set(CUDNN_ATTR_POINTWISE_AXIS, std::int64_t{1}); }),
        AllOf(HasSubstr("cudnnBackendSetAttribute 9 of a tensor"), HasSubstr("CUDNN_STATUS_")));
    const auto unfinished = complaint([&] { tensor.finalize(); });
    EXPECT_THAT(unfinished, AllOf(HasSubstr("cuDNN 9."),
                                  HasSubstr("cudnnBackendFinalize of a tensor is CUDNN_STATUS_")));
    EXPECT_EQ(unfinished.find('\n'), std::string::npos);
}

TEST_F(CudnnGraphs, AreTakenAsGraphsOfOperations) {
    for (const auto* mask :
         {"full", "causal", "causal+window:32", "window:32", "causal+document:100/156"}) {
        for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
            for (const std::int64_t kv_heads : {4, 2}) {
                const auto p = attention({.kv_heads = kv_heads}, mask);
                const auto graph =
                    cudnn_attention_graph(p, cudnn_entries(p, pass), pass, ScratchSize::by_token);
                EXPECT_EQ(complaint([&] { CudnnOperations(graph, nullptr); }), "") << mask;
            }
        }
    }
}

TEST_F(CudnnGraphs, WithAMistakeAreRefused) {
    const auto p = attention({});
    auto graph = cudnn_attention_graph(p, cudnn_entries(p, AttentionPass::forward),
                                       AttentionPass::forward, ScratchSize::by_token);
    graph.tensors.front().dims = {0, 0, 0, 0};
    EXPECT_THAT(complaint([&] { CudnnOperations(graph, nullptr); }),
                HasSubstr("operation 0 matmul is CUDNN_STATUS_BAD_PARAM"));
}

TEST(CudnnKernels, AreToldByTheirNames) {
    const std::string kernel =
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_kernel0";
    EXPECT_EQ(kernel_of("{\"x\":[{\"kernelName\":\"" + kernel + "\",\"y\":1}]}"), kernel);
    EXPECT_EQ(kernel_of("{}"), "");
    EXPECT_TRUE(is_kernel_for(kernel, 90));
    EXPECT_FALSE(is_kernel_for(kernel, 80));
    EXPECT_FALSE(is_kernel_for(kernel, 100));
    EXPECT_TRUE(is_kernel_for("fort_sm100_fprop", 103));
    EXPECT_TRUE(is_kernel_for("fort_sm80_fprop", 89));
    EXPECT_FALSE(is_kernel_for("fort_sm80_fprop", 90));
    EXPECT_FALSE(is_kernel_for("", 90));
    EXPECT_FALSE(is_kernel_for("small", 90));
}

}  // namespace
}  // namespace assay::cuda
