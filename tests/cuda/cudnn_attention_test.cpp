// Every element against the oracle.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "attention_problem.h"
#include "base/scratch.h"
#include "cuda/cudnn/attention.h"
#include "cuda/cudnn/attention_graph.h"
#include "cuda/cudnn/plans.h"
#include "cuda/facts.h"
#include "device_under_test.h"
#include "distance.h"
#include "support/attention_answer.h"
#include "work/attention_oracle.h"
#include "work/fill.h"

namespace assay::cuda {
namespace {

using testing::HasSubstr;
using work::AttentionLayout;
using work::AttentionPass;
using work::AttentionTensor;

using ops::kSpareRows;

// One tensor, or q, k and v packed into one buffer, on the host and on the device.
class Memory {
  public:
    Memory(device::Device& device, const work::Attention& p, AttentionTensor like,
           std::uint32_t stream)
        : device_(device), type_(like == AttentionTensor::lse ? work::Type::fp32 : p.type) {
        const auto own = static_cast<std::size_t>(work::extent(p, like));
        elements_ = own + static_cast<std::size_t>(kSpareRows * p.of(like).row);
        host_.resize(elements_ * work::size_of(type_));
        buffer_ = device.allocate(host_.size());
        if (stream != kOutput) {
            work::fill({work::Distribution::normal, 5, stream}, type_, 0, elements_, host_.data());
        } else {
            // 3e38 in bf16 and fp32 and NaN in fp16, so that what isn't written shows. Spare rows
            // stay zero: they are multiplied by zeros, and have to be finite.
            const auto end =
                host_.begin() + static_cast<std::ptrdiff_t>(own * work::size_of(type_));
            std::fill(host_.begin(), end, std::byte{0x7F});
        }
        device.copy_in(buffer_->data(), host_.data(), host_.size());
        decode();
    }

    static constexpr std::uint32_t kOutput = 1000;

    void read_back() {
        device_.copy_out(host_.data(), buffer_->data(), host_.size());
        decode();
    }
    void* address(std::int64_t element = 0) {
        return static_cast<std::byte*>(buffer_->data()) +
               static_cast<std::size_t>(element) * work::size_of(type_);
    }
    double at(std::int64_t element) const { return values_[static_cast<std::size_t>(element)]; }

  private:
    // Once: the oracle reads each element hundreds of times.
    void decode() {
        values_.resize(elements_);
        for (std::size_t i = 0; i < elements_; ++i) {
            values_[i] = work::load(type_, host_.data(), i);
        }
    }

    device::Device& device_;
    work::Type type_;
    std::size_t elements_ = 0;
    std::vector<std::byte> host_;
    std::vector<double> values_;
    std::unique_ptr<device::Buffer> buffer_;
};

// The operands of both passes.
class Operands : public work::AttentionSource {
  public:
    Operands(device::Device& device, const work::Attention& p, bool packed)
        : p_(p),
          packed_(packed),
          q_(device, p, AttentionTensor::q, 1),
          k_(device, p, AttentionTensor::k, 2),
          v_(device, p, AttentionTensor::v, 3),
          o_(device, p, AttentionTensor::o, Memory::kOutput),
          lse_(device, p, AttentionTensor::lse, Memory::kOutput),
          d_o_(device, p, AttentionTensor::o, 4),
          d_q_(device, p, AttentionTensor::q, Memory::kOutput),
          d_k_(device, p, AttentionTensor::k, Memory::kOutput),
          d_v_(device, p, AttentionTensor::v, Memory::kOutput) {}

    ops::AttentionOperands addresses() {
        ops::AttentionOperands a;
        a.q = q_.address();
        a.k = of(AttentionTensor::k).address(base(AttentionTensor::k));
        a.v = of(AttentionTensor::v).address(base(AttentionTensor::v));
        a.o = o_.address();
        a.lse = static_cast<float*>(lse_.address());
        a.d_o = d_o_.address();
        a.d_q = d_q_.address();
        a.d_k = gradient_of(AttentionTensor::k).address(base(AttentionTensor::k));
        a.d_v = gradient_of(AttentionTensor::v).address(base(AttentionTensor::v));
        return a;
    }
    void read_back() {
        for (auto* memory : {&o_, &lse_, &d_q_, &d_k_, &d_v_}) memory->read_back();
    }

    double value(AttentionTensor tensor, std::int64_t entry, std::int64_t head, std::int64_t row,
                 std::int64_t element) const {
        return of(tensor).at(base(tensor) + work::position(p_, tensor, entry, head, row) + element);
    }
    double gradient(AttentionTensor tensor, std::int64_t entry, std::int64_t head, std::int64_t row,
                    std::int64_t element) const {
        return gradient_of(tensor).at(base(tensor) + work::position(p_, tensor, entry, head, row) +
                                      element);
    }

    void read(AttentionTensor tensor, std::int64_t entry, std::int64_t head, std::int64_t row,
              std::span<double> into) const override {
        for (std::size_t i = 0; i < into.size(); ++i) {
            into[i] = value(tensor, entry, head, row, static_cast<std::int64_t>(i));
        }
    }
    void read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                       std::span<double> into) const override {
        for (std::size_t i = 0; i < into.size(); ++i) {
            into[i] = gradient(AttentionTensor::o, entry, head, row, static_cast<std::int64_t>(i));
        }
    }
    double bias(std::int64_t, std::int64_t, std::int64_t) const override { return 0; }

  private:
    // Packed, all three are in the buffer of q: in each of its rows, one after the other.
    std::int64_t base(AttentionTensor tensor) const {
        if (!packed_ || tensor == AttentionTensor::o || tensor == AttentionTensor::lse) return 0;
        if (tensor == AttentionTensor::q) return 0;
        const auto k = p_.heads * p_.dim;
        return tensor == AttentionTensor::k ? k : k + p_.kv_heads * p_.dim;
    }
    const Memory& of(AttentionTensor tensor) const {
        switch (tensor) {
            case AttentionTensor::k:
                return packed_ ? q_ : k_;
            case AttentionTensor::v:
                return packed_ ? q_ : v_;
            case AttentionTensor::o:
                return o_;
            case AttentionTensor::lse:
                return lse_;
            case AttentionTensor::q:
                break;
        }
        return q_;
    }
    const Memory& gradient_of(AttentionTensor tensor) const {
        switch (tensor) {
            case AttentionTensor::k:
                return packed_ ? d_q_ : d_k_;
            case AttentionTensor::v:
                return packed_ ? d_q_ : d_v_;
            case AttentionTensor::o:
            case AttentionTensor::lse:
                return d_o_;
            case AttentionTensor::q:
                break;
        }
        return d_q_;
    }
    Memory& of(AttentionTensor tensor) {
        return const_cast<Memory&>(std::as_const(*this).of(tensor));
    }
    Memory& gradient_of(AttentionTensor tensor) {
        return const_cast<Memory&>(std::as_const(*this).gradient_of(tensor));
    }

    const work::Attention& p_;
    bool packed_;
    Memory q_, k_, v_, o_, lse_, d_o_, d_q_, d_k_, d_v_;
};

struct Distances {
    Distance o, lse, d_q, d_k, d_v;
};

void compare_entry(const work::Attention& p, const Operands& operands, std::int64_t entry,
                   Distances& distances) {
    const work::AttentionOracle oracle(p, operands, entry);
    const auto queries = work::queries_of(p, entry), keys = work::keys_of(p, entry);
    std::vector<work::AttentionRow> rows;
    for (std::int64_t head = 0; head < p.heads; ++head) {
        for (std::int64_t query = 0; query < queries; ++query) {
            const auto right = oracle.output(head, query);
            rows.push_back(oracle.row(head, query));
            distances.lse.add(operands.value(AttentionTensor::lse, entry, head, query, 0),
                              right.lse);
            distances.lse.end_row();
            for (std::int64_t i = 0; i < p.value_dim; ++i) {
                distances.o.add(operands.value(AttentionTensor::o, entry, head, query, i),
                                right.o[static_cast<std::size_t>(i)]);
            }
            distances.o.end_row();
            const auto gradient = oracle.query_gradient(head, query, right);
            distances.d_q.add_terms(gradient.terms);
            for (std::int64_t i = 0; i < p.dim; ++i) {
                distances.d_q.add(operands.gradient(AttentionTensor::q, entry, head, query, i),
                                  gradient.d_q[static_cast<std::size_t>(i)]);
            }
            distances.d_q.end_row();
        }
    }
    const auto row = [&](std::int64_t head, std::int64_t query) {
        return rows[static_cast<std::size_t>(head * queries + query)];
    };
    for (std::int64_t head = 0; head < p.kv_heads; ++head) {
        for (std::int64_t key = 0; key < keys; ++key) {
            const auto right = oracle.key_gradient(head, key, row);
            distances.d_k.add_terms(right.terms);
            for (std::int64_t i = 0; i < p.dim; ++i) {
                distances.d_k.add(operands.gradient(AttentionTensor::k, entry, head, key, i),
                                  right.d_k[static_cast<std::size_t>(i)]);
            }
            for (std::int64_t i = 0; i < p.value_dim; ++i) {
                distances.d_v.add(operands.gradient(AttentionTensor::v, entry, head, key, i),
                                  right.d_v[static_cast<std::size_t>(i)]);
            }
            distances.d_k.end_row();
            distances.d_v.end_row();
        }
    }
}

Distances distances_of(const work::Attention& p, const Operands& operands) {
    Distances distances;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        compare_entry(p, operands, entry, distances);
    }
    return distances;
}

// Each element of what a pass gave. The largest distances the types allow are those of the issue.
void expect_right(const work::Attention& p, const Distances& d, AttentionPass pass,
                  bool packed = false) {
    const double limit = p.type == work::Type::bf16 ? 1e-2 : 2e-3;
    const auto expect = [&](const char* tensor, const Distance& distance) {
        const auto what = fmt::format("{} of {} in {}, {}/{} heads x {} x {} x {}/{}{}{}", tensor,
                                      work::name(p.mask), work::name(p.type), p.heads, p.kv_heads,
                                      p.queries, p.keys, p.dim, p.value_dim,
                                      packed ? ", packed" : "", p.ragged() ? ", ragged" : "");
        EXPECT_LT(distance.value(), limit) << what;
        const auto worst = distance.worst_row();
        EXPECT_LT(worst.value, kRowSlack * limit) << what << ", row " << worst.number;
    };
    if (pass == AttentionPass::forward) {
        EXPECT_LT(d.lse.value(), 1e-4) << "lse of " << work::name(p.mask);
        expect("o", d.o);
        return;
    }
    expect("d_q", d.d_q);
    expect("d_k", d.d_k);
    expect("d_v", d.d_v);
}

// Of every element of a tensor in two runs.
Distance between(const work::Attention& p, AttentionTensor tensor, const auto& one,
                 const auto& other) {
    Distance distance;
    work::each_row(p, tensor, [&](std::int64_t entry, std::int64_t head, std::int64_t row) {
        for (std::int64_t i = 0; i < work::width_of(p, tensor); ++i) {
            distance.add(one(entry, head, row, i), other(entry, head, row, i));
        }
        distance.end_row();
    });
    return distance;
}

class CudnnAttention : public WithGpu {
  protected:
    int compute_capability() { return capability(device().facts()); }
    std::unique_ptr<ops::PreparedAttention> prepare(const work::Attention& p, AttentionPass pass) {
        return prepare_cudnn_attention(p, pass, device().facts().name, compute_capability());
    }
    // Both passes.
    void check(const work::Attention& p, bool packed = false) {
        SCOPED_TRACE(work::name(p.mask));
        Operands operands(device(), p, packed);
        const auto stream = device().create_stream();
        for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
            const auto prepared = prepare(p, pass);
            prepared->enqueue(*stream, operands.addresses());
            stream->synchronize();
            EXPECT_EQ(prepared->implementation().path, record::Path::fast)
                << prepared->implementation().algorithm;
        }
        operands.read_back();
        const auto distances = distances_of(p, operands);
        expect_right(p, distances, AttentionPass::forward, packed);
        expect_right(p, distances, AttentionPass::backward, packed);
    }
};

constexpr AttentionShape kSmall{.batch = 2, .heads = 4, .kv_heads = 4, .queries = 256, .keys = 256};
constexpr AttentionShape kGrouped{
    .batch = 2, .heads = 4, .kv_heads = 2, .queries = 256, .keys = 256};
constexpr AttentionShape kOdd{.batch = 1,
                              .heads = 2,
                              .kv_heads = 1,
                              .queries = 509,
                              .keys = 509,
                              .dim = 128,
                              .value_dim = 128};

// Each problem costs two plans, a second or so each: no more of them than ways to go wrong.
TEST_F(CudnnAttention, CausalAndFullInBothTypesAndLayouts) {
    check(attention(kSmall, "causal"));
    check(attention(kSmall, "full"));
    check(attention(kSmall, "causal", AttentionLayout::bhsd, work::Type::fp16));
    check(attention(kSmall, "full", AttentionLayout::bshd, work::Type::fp16));
}

TEST_F(CudnnAttention, Windows) {
    for (const auto* mask : {"causal+window:1", "causal+window:100", "window:100"}) {
        check(attention(kSmall, mask));
    }
}

TEST_F(CudnnAttention, GroupedHeadsAndAnOddLength) {
    check(attention(kGrouped, "causal"));
    for (const auto* mask : {"causal", "full", "causal+window:64"}) check(attention(kOdd, mask));
}

TEST_F(CudnnAttention, PackedOperands) {
    check(attention(kSmall, "full", AttentionLayout::packed), true);
    check(attention(kGrouped, "causal", AttentionLayout::packed), true);
    check(attention(kGrouped, "causal+window:9", AttentionLayout::packed), true);
}

TEST_F(CudnnAttention, LatentHeads) {
    auto shape = kSmall;
    shape.dim = 192;
    shape.value_dim = 128;
    check(attention(shape, "causal"));
}

TEST_F(CudnnAttention, MoreKeysThanQueries) {
    auto shape = kGrouped;
    shape.queries = 100;
    for (const auto* mask :
         {"full", "causal", "causal:bottom-right", "causal:bottom-right+window:40", "window:40"}) {
        check(attention(shape, mask));
    }
    shape.queries = 300;
    check(attention(shape, "causal"));
}

TEST_F(CudnnAttention, RaggedEntriesBackToBack) {
    const std::vector<std::int64_t> lengths{256, 0, 77, 130, 1};
    check(ragged(kSmall, lengths, "causal"));
    check(ragged(kSmall, lengths, "causal", AttentionLayout::packed), true);
    check(ragged(kGrouped, lengths, "full"));
    check(ragged(kGrouped, lengths, "causal+window:50"));
    check(ragged(kGrouped, lengths, "causal", AttentionLayout::packed), true);
    // Other lengths of keys than of queries.
    auto p = ragged(kGrouped, {30, 77, 100}, "causal:bottom-right");
    p.key_lengths = {256, 77, 130};
    work::lay_out(p, AttentionLayout::bshd);
    check(p);
    p.mask = work::parse_mask("causal:bottom-right+window:40", p.queries, p.keys);
    check(p);
    // Dims for which scratch can't follow the tokens.
    auto narrow = kGrouped;
    narrow.dim = narrow.value_dim = 72;
    check(ragged(narrow, {30, 77, 100}, "causal"));
}

TEST_F(CudnnAttention, RaggedEntriesInPlacesOfTheirOwn) {
    auto p = attention(kGrouped, "causal");
    p.query_lengths = p.key_lengths = {256, 77};
    check(p);
}

TEST_F(CudnnAttention, Documents) {
    check(attention(kSmall, "causal+document:100/29/127"));
    check(attention(kSmall, "causal+document:100/29/127", AttentionLayout::packed), true);
    check(attention(kGrouped, "document:even:4"));
    check(attention(kGrouped, "causal+window:30+document:skewed:5"));
    check(attention(kGrouped, "causal+document:100/29/127", AttentionLayout::packed), true);
}

TEST_F(CudnnAttention, RunsFromAGraph) {
    for (const auto* mask : {"causal", "causal+document:100/156"}) {
        const auto p = attention(kGrouped, mask);
        Operands eager(device(), p, false), captured(device(), p, false);
        const auto stream = device().create_stream();
        for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
            const auto prepared = prepare(p, pass);
            prepared->enqueue(*stream, eager.addresses());
            stream->synchronize();
            const auto graph =
                stream->capture([&] { prepared->enqueue(*stream, captured.addresses()); });
            graph->launch(*stream);
            stream->synchronize();
        }
        eager.read_back();
        captured.read_back();
        for (const auto tensor : {AttentionTensor::o, AttentionTensor::lse}) {
            const auto values = [tensor](const Operands& of) {
                return [&of, tensor](auto... at) { return of.value(tensor, at...); };
            };
            EXPECT_EQ(between(p, tensor, values(captured), values(eager)).value(), 0);
        }
        // Sums of gradients are made in any order.
        for (const auto tensor : {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v}) {
            const auto gradients = [tensor](const Operands& of) {
                return [&of, tensor](auto... at) { return of.gradient(tensor, at...); };
            };
            const auto distance = between(p, tensor, gradients(captured), gradients(eager));
            EXPECT_LT(distance.value(), 1e-2);
            EXPECT_LT(distance.worst_row().value, kRowSlack * 1e-2);
        }
    }
}

// Nothing of it has run before: its code is loaded when it is prepared.
TEST_F(CudnnAttention, RunsFromAGraphOrBehindAHeldStreamTheFirstTime) {
    auto shape = kSmall;
    shape.queries = shape.keys = 192;  // that no other test has
    const auto p = attention(shape, "causal");
    Operands operands(device(), p, false);
    const auto stream = device().create_stream();
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        const auto prepared = prepare(p, pass);
        const auto graph =
            stream->capture([&] { prepared->enqueue(*stream, operands.addresses()); });
        graph->launch(*stream);
        stream->synchronize();
    }
    operands.read_back();
    const auto distances = distances_of(p, operands);
    expect_right(p, distances, AttentionPass::forward);
    expect_right(p, distances, AttentionPass::backward);

    shape.queries = shape.keys = 320;
    const auto other = attention(shape, "full");
    Operands held(device(), other, false);
    const auto prepared = prepare(other, AttentionPass::forward);
    stream->hold();
    prepared->enqueue(*stream, held.addresses());
    stream->release();
    stream->synchronize();
    held.read_back();
    expect_right(other, distances_of(other, held), AttentionPass::forward);
}

TEST_F(CudnnAttention, SaysWhatRan) {
    const auto prepared = prepare(attention(kSmall, "causal"), AttentionPass::forward);
    const auto& i = prepared->implementation();
    EXPECT_EQ(i.library, "cuDNN");
    EXPECT_THAT(i.library_file, HasSubstr("libcudnn"));
    EXPECT_THAT(i.algorithm, HasSubstr("engine "));
    EXPECT_TRUE(is_kernel_for(i.algorithm, compute_capability())) << i.algorithm;
    EXPECT_GT(i.workspace_bytes, 0U);
    const auto again = prepare(attention(kSmall, "causal"), AttentionPass::forward);
    EXPECT_EQ(again->implementation().note, "plan of before");
    EXPECT_EQ(again->implementation().algorithm, i.algorithm);
}

TEST_F(CudnnAttention, RefusesOperandsThatArentAligned) {
    const auto p = attention(kSmall, "causal");
    Operands operands(device(), p, false);
    const auto stream = device().create_stream();
    const auto prepared = prepare(p, AttentionPass::forward);
    auto addresses = operands.addresses();
    addresses.k = static_cast<const std::byte*>(addresses.k) + 2;
    EXPECT_THROW(prepared->enqueue(*stream, addresses), Unsupported);
    addresses.k = nullptr;
    EXPECT_THROW(prepared->enqueue(*stream, addresses), Unsupported);
}

TEST_F(CudnnAttention, PlansAreReadFromDiskByTheNextProcess) {
    const assay::Scratch scratch;
    const auto p = attention(kSmall, "causal");
    const auto graph = cudnn_attention_graph(p, cudnn_entries(p, AttentionPass::forward),
                                             AttentionPass::forward, ScratchSize::by_token);
    const CudnnTarget target{Cudnn::instance().handle(), nullptr, compute_capability()};
    const auto find = [&](CudnnPlans& plans) { return plans.find(graph, target, "a GPU"); };
    CudnnPlans first(CudnnPlanCache(scratch.path()));
    const auto built = find(first);
    EXPECT_EQ(built.source, PlanSource::built);
    EXPECT_EQ(built.note, "");
    EXPECT_EQ(find(first).source, PlanSource::memory);
    CudnnPlans second(CudnnPlanCache(scratch.path()));
    const auto read = find(second);
    EXPECT_EQ(read.source, PlanSource::disk);
    EXPECT_EQ(read.plan->kernel(), built.plan->kernel());
    EXPECT_EQ(read.plan->workspace_bytes(), built.plan->workspace_bytes());
}

}  // namespace
}  // namespace assay::cuda
