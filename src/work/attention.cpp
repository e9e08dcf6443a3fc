#include "work/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "work/named_rows.h"

namespace assay::work {
namespace {

template <class Value>
struct Named {
    Value value;
    std::string_view name;
};

constexpr std::array<Named<AttentionPass>, 2> kPasses{
    {{AttentionPass::forward, "forward"}, {AttentionPass::backward, "backward"}}};
constexpr std::array<Named<AttentionLayout>, 3> kLayouts{{{AttentionLayout::bhsd, "bhsd"},
                                                          {AttentionLayout::bshd, "bshd"},
                                                          {AttentionLayout::packed, "packed"}}};
constexpr std::array<AttentionTensor, kAttentionTensors> kTensors{
    AttentionTensor::q, AttentionTensor::k, AttentionTensor::v, AttentionTensor::o,
    AttentionTensor::lse};

// Rows of an entry, or where entries lie back to back of all of them.
std::int64_t longest(const Attention& p, AttentionTensor tensor) {
    return is_of_queries(tensor) ? p.queries : p.keys;
}

const std::vector<std::int64_t>& lengths(const Attention& p, AttentionTensor tensor) {
    return is_of_queries(tensor) ? p.query_lengths : p.key_lengths;
}

bool back_to_back(const Attention& p, AttentionTensor tensor) {
    return p.ragged() && p.of(tensor).batch == 0;
}

double sum_over_entries(const Attention& p, double (*of)(const Attention&, std::int64_t)) {
    if (!p.ragged()) return static_cast<double>(p.batch) * of(p, 0);
    double sum = 0;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) sum += of(p, entry);
    return sum;
}

void require_lengths(const Attention& p) {
    if (p.query_lengths.size() != p.key_lengths.size()) {
        throw UsageError("ragged lengths of queries or of keys alone", "give both");
    }
    if (!p.ragged()) return;
    if (static_cast<std::int64_t>(p.query_lengths.size()) != p.batch) {
        throw UsageError(
            fmt::format("{} ragged lengths for a batch of {}", p.query_lengths.size(), p.batch),
            "give one an entry");
    }
    for (const bool queries : {true, false}) {
        const auto longest = queries ? p.queries : p.keys;
        for (const auto length : queries ? p.query_lengths : p.key_lengths) {
            if (length < 0 || length > longest) {
                throw UsageError(
                    fmt::format("a ragged length of {} outside 0 .. {}", length, longest),
                    "an entry is at most as long as the longest");
            }
        }
    }
    if (!p.mask.documents.empty() || !p.mask.blocks.empty() || p.modifier.bias) {
        throw UsageError("ragged lengths with documents, blocks or a bias",
                         "a mask or bias by position has meaning for equal lengths only");
    }
}

// Rows must not overlap: each stride goes past what it strides over, in ascending order.
void require_strides(const Attention& p, AttentionTensor tensor) {
    const auto& s = p.of(tensor);
    struct Step {
        std::int64_t stride, count;
    };
    const bool one_batch = back_to_back(p, tensor);
    const std::int64_t rows = one_batch ? rows_before(p, tensor, p.batch) : longest(p, tensor);
    std::array<Step, 3> steps{{{s.batch, one_batch ? 1 : p.batch},
                               {s.head, heads_of(p, tensor)},
                               {s.row, std::max<std::int64_t>(rows, 1)}}};
    std::ranges::sort(steps, {}, &Step::stride);
    std::int64_t covered = width_of(p, tensor);
    for (const auto& step : steps) {
        if (step.count == 1) continue;
        if (step.stride < covered) {
            throw UsageError("strides under which rows of attention overlap",
                             "use lay_out(), or strides that step over what lies inside of them");
        }
        covered = step.stride * (step.count - 1) + covered;
    }
}

}  // namespace

std::string_view name(AttentionPass pass) {
    return kPasses[static_cast<std::size_t>(pass)].name;
}
AttentionPass parse_attention_pass(std::string_view word) {
    return row_named("pass", word, kPasses).value;
}
std::string_view name(AttentionLayout layout) {
    return kLayouts[static_cast<std::size_t>(layout)].name;
}
AttentionLayout parse_attention_layout(std::string_view word) {
    return row_named("layout", word, kLayouts).value;
}

void lay_out(Attention& p, AttentionLayout layout) {
    if (p.ragged() && layout == AttentionLayout::bhsd) {
        throw UsageError("layout bhsd with ragged lengths", "use bshd or packed: by token");
    }
    const bool side_by_side = layout == AttentionLayout::packed;
    if (side_by_side && (p.queries != p.keys || p.query_lengths != p.key_lengths)) {
        throw UsageError(
            fmt::format("layout packed with {} queries and {} keys", p.queries, p.keys),
            "a token has its query, key and value side by side: give as many of each");
    }
    // Documents are entries back to back to a library: a token's heads then lie together.
    const bool by_token = p.ragged() || !p.mask.documents.empty();
    for (const auto tensor : kTensors) {
        const auto heads = heads_of(p, tensor), width = width_of(p, tensor);
        const auto rows = longest(p, tensor);
        const bool by_head =
            layout == AttentionLayout::bhsd || (tensor == AttentionTensor::lse && !by_token);
        auto& strides = p.of(tensor);
        if (by_head) {
            strides = {heads * rows * width, rows * width, width};
        } else {
            strides = {heads * rows * width, width, heads * width};
        }
        const bool inside =
            side_by_side && tensor != AttentionTensor::o && tensor != AttentionTensor::lse;
        if (inside) {
            strides.row = (p.heads + p.kv_heads) * p.dim + p.kv_heads * p.value_dim;
            strides.batch = rows * strides.row;
        }
        if (p.ragged()) strides.batch = 0;
    }
}

double scale_of(const Attention& p) {
    return p.scale.value_or(1 / std::sqrt(static_cast<double>(p.dim)));
}

std::int64_t queries_of(const Attention& p, std::int64_t entry) {
    return p.ragged() ? p.query_lengths[static_cast<std::size_t>(entry)] : p.queries;
}

std::int64_t keys_of(const Attention& p, std::int64_t entry) {
    return p.ragged() ? p.key_lengths[static_cast<std::size_t>(entry)] : p.keys;
}

bool is_of_queries(AttentionTensor tensor) {
    return tensor != AttentionTensor::k && tensor != AttentionTensor::v;
}

std::int64_t heads_of(const Attention& p, AttentionTensor tensor) {
    return is_of_queries(tensor) ? p.heads : p.kv_heads;
}

std::int64_t width_of(const Attention& p, AttentionTensor tensor) {
    switch (tensor) {
        case AttentionTensor::q:
        case AttentionTensor::k:
            return p.dim;
        case AttentionTensor::v:
        case AttentionTensor::o:
            return p.value_dim;
        case AttentionTensor::lse:
            break;
    }
    return 1;
}

std::int64_t kv_head_of(const Attention& p, std::int64_t head) {
    return head / (p.heads / p.kv_heads);
}

std::int64_t rows_before(const Attention& p, AttentionTensor tensor, std::int64_t entry) {
    if (!p.ragged()) return entry * longest(p, tensor);
    std::int64_t rows = 0;
    for (std::int64_t e = 0; e < entry; ++e) {
        rows += lengths(p, tensor)[static_cast<std::size_t>(e)];
    }
    return rows;
}

std::int64_t position(const Attention& p, AttentionTensor tensor, std::int64_t entry,
                      std::int64_t head, std::int64_t row) {
    const auto& s = p.of(tensor);
    const auto base =
        back_to_back(p, tensor) ? rows_before(p, tensor, entry) * s.row : entry * s.batch;
    return base + head * s.head + row * s.row;
}

std::vector<std::int64_t> starts(const Attention& p, AttentionTensor tensor) {
    const auto& s = p.of(tensor);
    std::vector<std::int64_t> starts;
    starts.reserve(static_cast<std::size_t>(p.batch));
    std::int64_t next = 0;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        starts.push_back(next);
        next += back_to_back(p, tensor)
                    ? lengths(p, tensor)[static_cast<std::size_t>(entry)] * s.row
                    : s.batch;
    }
    return starts;
}

std::int64_t extent(const Attention& p, AttentionTensor tensor) {
    const auto& s = p.of(tensor);
    const bool joined = back_to_back(p, tensor);
    const auto rows = joined ? rows_before(p, tensor, p.batch) : longest(p, tensor);
    if (rows == 0) return 0;
    return (joined ? 0 : (p.batch - 1) * s.batch) + (heads_of(p, tensor) - 1) * s.head +
           (rows - 1) * s.row + width_of(p, tensor);
}

std::int64_t elements(const Attention& p, AttentionTensor tensor) {
    return rows_before(p, tensor, p.batch) * heads_of(p, tensor) * width_of(p, tensor);
}

double visible_pairs(const Attention& p) {
    return sum_over_entries(p, [](const Attention& problem, std::int64_t entry) {
        return static_cast<double>(
            visible_pairs(problem.mask, queries_of(problem, entry), keys_of(problem, entry)));
    });
}

double all_pairs(const Attention& p) {
    return sum_over_entries(p, [](const Attention& problem, std::int64_t entry) {
        return static_cast<double>(queries_of(problem, entry)) *
               static_cast<double>(keys_of(problem, entry));
    });
}

double density(const Attention& p) {
    const double all = all_pairs(p);
    return all > 0 ? visible_pairs(p) / all : 0;
}

double flop_of_pairs(const Attention& p, AttentionPass pass, double pairs) {
    const auto dim = static_cast<double>(p.dim);
    const auto value_dim = static_cast<double>(p.value_dim);
    const double products =
        pass == AttentionPass::forward ? dim + value_dim : 3 * dim + 2 * value_dim;
    return 2 * static_cast<double>(p.heads) * pairs * products;
}

double flop(const Attention& p, AttentionPass pass) {
    return flop_of_pairs(p, pass, visible_pairs(p));
}

double dense_flop(const Attention& p, AttentionPass pass) {
    return flop_of_pairs(p, pass, all_pairs(p));
}

std::uint64_t bytes(const Attention& p, AttentionPass pass) {
    const auto count = [&](AttentionTensor tensor) {
        return static_cast<std::uint64_t>(elements(p, tensor));
    };
    const auto inputs =
        count(AttentionTensor::q) + count(AttentionTensor::k) + count(AttentionTensor::v);
    const auto outputs = count(AttentionTensor::o);
    const auto bias = p.modifier.bias ? static_cast<std::uint64_t>(p.heads) *
                                            static_cast<std::uint64_t>(p.queries) *
                                            static_cast<std::uint64_t>(p.keys)
                                      : 0;
    const auto moved = pass == AttentionPass::forward ? inputs + outputs : 2 * inputs + 2 * outputs;
    return (moved + bias) * size_of(p.type) + 4 * count(AttentionTensor::lse);
}

void validate(const Attention& p) {
    const std::array<std::pair<const char*, std::int64_t>, 7> sizes{{{"batch", p.batch},
                                                                     {"heads", p.heads},
                                                                     {"kv-heads", p.kv_heads},
                                                                     {"queries", p.queries},
                                                                     {"keys", p.keys},
                                                                     {"dim", p.dim},
                                                                     {"value-dim", p.value_dim}}};
    constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
    for (const auto& [what, size] : sizes) {
        if (size < 1 || size > kLargest) {
            throw UsageError(
                fmt::format("attention with {} {}: must be 1 to {}", what, size, kLargest),
                "give a size in that range");
        }
    }
    if (p.heads % p.kv_heads != 0) {
        throw UsageError(fmt::format("{} kv-heads don't divide {} heads", p.kv_heads, p.heads),
                         "each key/value head serves equally many query heads");
    }
    if (is_integer(p.type) || is_fp8(p.type) || p.type == Type::tf32) {
        throw UsageError(fmt::format("attention in {} isn't known", name(p.type)),
                         "give fp64, fp32, fp16 or bf16");
    }
    // As soft caps have theirs: fp32 holds the scale to base 2, and over any of them.
    constexpr double kLeastScale = 1e-16, kMostScale = 1e16;
    const double size = std::abs(p.scale.value_or(0));
    if (size != 0 && !(size >= kLeastScale && size <= kMostScale)) {
        throw UsageError(fmt::format("attention with a scale of {}: its size must be 0 or {} to {}",
                                     *p.scale, kLeastScale, kMostScale),
                         "leave it out for 1/sqrt(dim)");
    }
    validate(p.modifier);
    require_lengths(p);
    if (!p.ragged()) validate(p.mask, p.queries, p.keys);
    constexpr double kMost = 4.611686018427387904e18;  // 2^62
    double most = 0;
    for (const auto tensor : kTensors) {
        const double rows = static_cast<double>(longest(p, tensor)) * static_cast<double>(p.batch);
        most += rows * static_cast<double>(heads_of(p, tensor)) *
                static_cast<double>(width_of(p, tensor)) * 8;
    }
    if (p.modifier.bias) {
        most += static_cast<double>(p.heads) * static_cast<double>(p.queries) *
                static_cast<double>(p.keys) * 8;
    }
    if (most > kMost) {
        throw UsageError("attention that takes over 2^62 bytes", "give a smaller batch or length");
    }
    for (const auto tensor : kTensors) require_strides(p, tensor);
}

}  // namespace assay::work
