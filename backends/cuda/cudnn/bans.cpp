#include "cuda/cudnn/bans.h"

#include <algorithm>

namespace assay::cuda {

namespace {

using work::AttentionPass;
using work::AttentionTensor;

struct Ban {
    std::size_t first, after;  // versions from `first` on, before `after`
    bool (*applies)(const CudnnQuestion&);
    const char* reason;
};

constexpr std::size_t kTakesAnyKeys = 91501;  // backward, without lengths
constexpr std::int64_t kKeyTile = 128;
constexpr std::size_t kAll = 1'000'000;

bool always(const CudnnQuestion&) {
    return true;
}
bool is_backward(const CudnnQuestion& q) {
    return q.pass == AttentionPass::backward;
}
bool is_two_sided(const CudnnQuestion& q) {
    return q.problem.mask.window > 0 && !q.problem.mask.causal;
}
// Chips whose attention is that of compute capability 8.
bool is_ampere_like(const CudnnQuestion& q) {
    return q.capability < 90 || q.capability >= 120;
}
bool is_hopper(const CudnnQuestion& q) {
    return q.capability >= 90 && q.capability < 100;
}
std::int64_t largest_dim(const CudnnQuestion& q) {
    return std::max(q.problem.dim, q.problem.value_dim);
}
bool is_latent(const CudnnQuestion& q) {
    return q.problem.dim == 192 && q.problem.value_dim == 128;
}
bool lse_is_plain(const CudnnQuestion& q) {
    const auto& p = q.problem;
    const auto s = cudnn_strides(p, q.entries, AttentionTensor::lse);
    const bool rows = s.row == 1 || q.entries.queries == 1;
    const bool heads = s.head == q.entries.queries || p.heads == 1;
    return rows && heads && (s.batch == p.heads * q.entries.queries || q.entries.count == 1);
}

// From NVIDIA's release notes and the checks of its own front end (cudnn-frontend, MIT).
constexpr Ban kBans[] = {
    {0, 90600, always,
     "before 9.6.0 it wants scratch cleared and has no windows or grouped heads "
     "for ragged entries"},
    {91000, 91002, always, "9.10.0 and 9.10.1 give wrong results in 16-bit types"},
    {91400, 91401, [](const CudnnQuestion& q) { return is_two_sided(q) && q.entries.keys > 1024; },
     "9.14.0 gives wrong results for a window without causal over more than 1024 keys"},
    {0, 91002, is_two_sided, "before 9.10.2 it has windows for causal masks only"},
    {0, 90901,
     [](const CudnnQuestion& q) { return q.entries.queries == 1 && q.problem.mask.causal; },
     "up to 9.9.0 it has no causal mask for a single query"},
    {0, 91801,
     [](const CudnnQuestion& q) {
         return q.capability < 90 && q.entries.has_offsets(AttentionTensor::q);
     },
     "before 9.18.1 it takes documents and entries back to back from compute capability 9.0 on"},
    {0, kAll,
     [](const CudnnQuestion& q) {
         return is_backward(q) && is_ampere_like(q) && q.entries.has_offsets(AttentionTensor::lse);
     },
     "its backward pass takes no log-sum-exp back to back on this compute capability"},
    {0, 92600,
     [](const CudnnQuestion& q) {
         return is_backward(q) && !q.entries.has_offsets(AttentionTensor::lse) && !lse_is_plain(q);
     },
     "before 9.26.0 its backward pass reads the log-sum-exp only as batch, head and query"},
    {0, kAll,
     [](const CudnnQuestion& q) { return is_backward(q) && is_hopper(q) && largest_dim(q) > 256; },
     "its backward pass has dims up to 256 on this compute capability"},
    {91100, 91300,
     [](const CudnnQuestion& q) {
         return is_backward(q) && is_hopper(q) && largest_dim(q) > 128 && !is_latent(q) &&
                q.problem.dim <= 192 && q.problem.value_dim <= 128;
     },
     "9.11 and 9.12 have a backward pass for dims of 192 and 128, and none between"},
    {0, kAll,
     [](const CudnnQuestion& q) {
         return is_backward(q) && !is_hopper(q) && largest_dim(q) > 128 &&
                (is_ampere_like(q) || !is_latent(q));
     },
     "its backward pass has dims up to 128 on this compute capability (192 and 128 from 10.0 on)"},
    {0, kAll,
     [](const CudnnQuestion& q) {
         return is_backward(q) && q.entries.queries == 1 && q.entries.keys == 1;
     },
     "its backward pass takes no single query of a single key"},
};

}  // namespace

std::string cudnn_ban(const CudnnQuestion& question) {
    for (const auto& ban : kBans) {
        const bool of_version = question.version >= ban.first && question.version < ban.after;
        if (of_version && ban.applies(question)) return ban.reason;
    }
    return "";
}

bool cudnn_wants_lengths(const CudnnQuestion& question) {
    return question.version < kTakesAnyKeys && is_backward(question) &&
           !question.entries.has_lengths() && question.entries.keys % kKeyTile != 0;
}

}  // namespace assay::cuda
