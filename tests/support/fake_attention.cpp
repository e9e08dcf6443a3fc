#include "support/fake_attention.h"

#include <algorithm>
#include <span>

#include "support/fake_stream.h"
#include "work/attention_oracle.h"
#include "work/fill.h"

namespace assay::device {
namespace {

using work::AttentionPass;
using work::AttentionTensor;

// Operands as they lie in memory.
class MemorySource final : public work::AttentionSource {
  public:
    MemorySource(const work::Attention& problem, const ops::AttentionOperands& operands,
                 bool mispaired)
        : problem_(problem), operands_(operands), mispaired_(mispaired) {}

    // Where the rows of a head lie. Query heads that are mispaired lie in another order: the one
    // that the oracle takes for a group's i-th is the i-th of those with the group's remainder.
    std::int64_t at(AttentionTensor tensor, std::int64_t entry, std::int64_t head,
                    std::int64_t row) const {
        if (mispaired_ && work::is_of_queries(tensor)) {
            const auto group = problem_.heads / problem_.kv_heads;
            head = head % group * problem_.kv_heads + head / group;
        }
        return work::position(problem_, tensor, entry, head, row);
    }

    void read(AttentionTensor tensor, std::int64_t entry, std::int64_t head, std::int64_t row,
              std::span<double> into) const override {
        const auto* from = tensor == AttentionTensor::q   ? operands_.q
                           : tensor == AttentionTensor::k ? operands_.k
                                                          : operands_.v;
        load(from, at(tensor, entry, head, row), into);
    }
    void read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                       std::span<double> into) const override {
        load(operands_.d_o, at(AttentionTensor::o, entry, head, row), into);
    }
    double bias(std::int64_t head, std::int64_t query, std::int64_t key) const override {
        double value = 0;
        load(operands_.bias, (head * problem_.queries + query) * problem_.keys + key, {&value, 1});
        return value;
    }
    // As the forward pass rounded it.
    std::vector<double> output(std::int64_t entry, std::int64_t head, std::int64_t row) const {
        std::vector<double> o(static_cast<std::size_t>(problem_.value_dim));
        load(operands_.o, at(AttentionTensor::o, entry, head, row), o);
        return o;
    }
    double delta(std::int64_t entry, std::int64_t head, std::int64_t row) const {
        const auto o = output(entry, head, row);
        std::vector<double> d_o(o.size());
        read_gradient(entry, head, row, d_o);
        double sum = 0;
        for (std::size_t i = 0; i < o.size(); ++i) sum += o[i] * d_o[i];
        return sum;
    }

  private:
    void load(const void* from, std::int64_t first, std::span<double> into) const {
        for (std::size_t i = 0; i < into.size(); ++i) {
            into[i] = work::load(problem_.type, from, static_cast<std::uint64_t>(first) + i);
        }
    }

    const work::Attention& problem_;
    const ops::AttentionOperands& operands_;
    bool mispaired_;
};

// One call.
class Computation {
  public:
    Computation(const work::Attention& problem, const ops::AttentionOperands& operands,
                const FakeScript& script, double wrong_by, AttentionPass pass)
        : p_(problem),
          operands_(operands),
          script_(script),
          wrong_by_(wrong_by),
          pass_(pass),
          source_(p_, operands_, script.mispairs_heads == pass) {}

    void run() {
        for (std::int64_t entry = 0; entry < p_.batch; ++entry) {
            if (work::queries_of(p_, entry) == 0) continue;
            const work::AttentionOracle oracle(p_, source_, entry);
            if (pass_ == AttentionPass::forward) {
                forward(oracle, entry);
            } else {
                backward(oracle, entry);
            }
        }
    }

  private:
    void forward(const work::AttentionOracle& oracle, std::int64_t entry) {
        for (std::int64_t head = 0; head < p_.heads; ++head) {
            for (std::int64_t row = 0; row < work::queries_of(p_, entry); ++row) {
                const auto output = oracle.output(head, row);
                store("o", AttentionTensor::o, operands_.o, entry, head, row, output.o);
                operands_.lse[source_.at(AttentionTensor::lse, entry, head, row)] =
                    static_cast<float>(output.lse * factor("lse"));
            }
        }
    }

    void backward(const work::AttentionOracle& oracle, std::int64_t entry) {
        for (std::int64_t head = 0; head < p_.heads; ++head) {
            for (std::int64_t row = 0; row < work::queries_of(p_, entry); ++row) {
                // fp32 can't hold lse for fp64, so that a row computes its own; o is read.
                auto forward = oracle.output(head, row);
                forward.o = source_.output(entry, head, row);
                store("d_q", AttentionTensor::q, operands_.d_q, entry, head, row,
                      oracle.query_gradient(head, row, forward).d_q);
            }
        }
        const auto row_of = [&](std::int64_t head, std::int64_t row) {
            const auto lse = source_.at(AttentionTensor::lse, entry, head, row);
            return work::AttentionRow{static_cast<double>(operands_.lse[lse]),
                                      source_.delta(entry, head, row)};
        };
        for (std::int64_t head = 0; head < p_.kv_heads; ++head) {
            for (std::int64_t key = 0; key < work::keys_of(p_, entry); ++key) {
                const auto gradient = oracle.key_gradient(head, key, row_of);
                store("d_k", AttentionTensor::k, operands_.d_k, entry, head, key, gradient.d_k);
                store("d_v", AttentionTensor::v, operands_.d_v, entry, head, key, gradient.d_v);
            }
        }
    }

    double factor(std::string_view tensor) const {
        const bool hit = script_.wrong_in.empty() || script_.wrong_in == tensor;
        return hit ? 1 + script_.wrong_by + wrong_by_ : 1;
    }

    void store(std::string_view name, AttentionTensor tensor, void* to, std::int64_t entry,
               std::int64_t head, std::int64_t row, const std::vector<double>& values) const {
        const auto first = source_.at(tensor, entry, head, row);
        for (std::size_t i = 0; i < values.size(); ++i) {
            work::store(p_.type, values[i] * factor(name),
                        static_cast<std::byte*>(to) +
                            (static_cast<std::size_t>(first) + i) * work::size_of(p_.type));
        }
    }

    work::Attention p_;
    ops::AttentionOperands operands_;
    const FakeScript& script_;
    double wrong_by_;
    AttentionPass pass_;
    MemorySource source_;
};

class FakePreparedAttention final : public ops::PreparedAttention {
  public:
    FakePreparedAttention(const work::Attention& problem, AttentionPass pass,
                          const FakeScript& script, FakeWay way)
        : problem_(problem), pass_(pass), script_(script), way_(std::move(way)) {
        implementation_.library = "fake";
        implementation_.library_version = "1";
        implementation_.algorithm = way_.name;
        implementation_.path = record::Path::portable;
        implementation_.workspace_bytes = way_.workspace_bytes;
    }
    const ops::Implementation& implementation() const override { return implementation_; }
    void enqueue(Stream& stream, const ops::AttentionOperands& operands) override {
        if (way_.fails) throw Error(way_.name + " can't be launched");
        double slowdown = way_.slowdown;
        if (script_.attention_slowdown) slowdown *= script_.attention_slowdown(problem_, pass_);
        dynamic_cast<FakeStream&>(stream).call(
            [problem = problem_, operands, pass = pass_, wrong_by = way_.wrong_by,
             &script = script_] { Computation(problem, operands, script, wrong_by, pass).run(); },
            slowdown);
    }

  private:
    work::Attention problem_;
    AttentionPass pass_;
    const FakeScript& script_;
    FakeWay way_;
    ops::Implementation implementation_;
};

}  // namespace

std::vector<std::string> FakeAttention::providers() const {
    std::vector<std::string> names;
    for (const auto& way : script_.providers) names.push_back(way.name);
    return names;
}

std::unique_ptr<ops::PreparedAttention> FakeAttention::prepare(const work::Attention& problem,
                                                               AttentionPass pass,
                                                               const std::string& provider) {
    if (script_.lacks_types.contains(problem.type)) {
        throw Unsupported("the fake device has no " + std::string(work::name(problem.type)));
    }
    for (const auto& way : script_.providers) {
        if (!provider.empty() && way.name != provider) continue;
        const bool refuses =
            way.unsupported || (way.largest_dim > 0 && problem.dim > way.largest_dim);
        if (!refuses) {
            if (way.on_prepare) way.on_prepare();
            return std::make_unique<FakePreparedAttention>(problem, pass, script_, way);
        }
        if (!provider.empty()) throw Unsupported(way.name + " can't do this attention");
    }
    throw Unsupported("no provider of the fake device can do this attention");
}

}  // namespace assay::device
