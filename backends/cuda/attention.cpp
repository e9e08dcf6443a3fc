#include "cuda/attention.h"

#include "base/error.h"
#include "base/text.h"
#include "cuda/attention/generic.h"
#include "cuda/cudnn/attention.h"

namespace assay::cuda {
namespace {

struct Request {
    const work::Attention& problem;
    work::AttentionPass pass;
    const std::string& device;
    int capability;
    std::string refusal;  // of the provider that was asked before, "" where none was
};

struct Provider {
    const char* name;
    std::unique_ptr<ops::PreparedAttention> (*prepare)(const Request&);
};

// The one expected to be the fastest first.
constexpr Provider kProviders[] = {
    {"cudnn",
     [](const Request& r) {
         return prepare_cudnn_attention(r.problem, r.pass, r.device, r.capability);
     }},
    {"generic",
     [](const Request& r) {
         return prepare_generic_attention(
             r.problem, r.pass,
             r.refusal.empty() ? cudnn_refusal(r.problem, r.pass, r.capability) : r.refusal);
     }},
};

}  // namespace

std::vector<std::string> CudaAttention::providers() const {
    std::vector<std::string> names;
    for (const auto& provider : kProviders) names.emplace_back(provider.name);
    return names;
}

std::unique_ptr<ops::PreparedAttention> CudaAttention::prepare(const work::Attention& problem,
                                                               work::AttentionPass pass,
                                                               const std::string& provider) {
    work::validate(problem);
    std::vector<std::string> reasons;
    std::string hint;
    Request request{problem, pass, device_, capability_, ""};
    for (const auto& known : kProviders) {
        if (!provider.empty() && provider != known.name) continue;
        try {
            return known.prepare(request);
        } catch (const Unsupported& error) {
            request.refusal = error.what();
            // Who asks for one knows its name.
            reasons.push_back((provider.empty() ? std::string(known.name) + ": " : "") +
                              error.what());
            hint = error.hint();
        }
    }
    if (reasons.empty()) {
        throw Unsupported("no provider \"" + provider + "\" of attention",
                          "there are " + join(providers(), ", "));
    }
    throw Unsupported(join(reasons, "; "), hint);
}

}  // namespace assay::cuda
