// In place of all else here, where cuDNN's headers are missing.
#include "base/error.h"
#include "cuda/cudnn/attention.h"
#include "cuda/cudnn/facts.h"

namespace assay::cuda {

namespace {

constexpr const char* kMissing = "this build is without cuDNN: its headers weren't there";

}  // namespace

record::SoftwareFacts cudnn_facts() {
    return {"cuDNN", kMissing, "", ""};
}

std::unique_ptr<ops::PreparedAttention> prepare_cudnn_attention(const work::Attention& /*problem*/,
                                                                work::AttentionPass /*pass*/,
                                                                const std::string& /*device*/,
                                                                int /*capability*/) {
    throw Unsupported(kMissing, "install cuDNN 9.10 or newer for developers and build again");
}

std::string cudnn_refusal(const work::Attention& /*problem*/, work::AttentionPass /*pass*/,
                          int /*capability*/) {
    return kMissing;
}

}  // namespace assay::cuda
