#include "plan/step.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/counts.h"
#include "model/division.h"
#include "model/flop.h"
#include "model/stage.h"

namespace assay::plan {

namespace {

using model::FeedForward;
using model::Layout;
using model::Mixer;
using model::Part;

constexpr double kActivationBytes = 2;  // between layers: 16 bits

double rate_of(const Speeds& speeds, const std::string& type) {
    const auto found = speeds.product.find(type);
    return found == speeds.product.end() ? 0 : found->second;
}

// The format that most bytes of a part's matrices are in.
class Formats {
  public:
    void add(const model::Tensor& tensor, const model::Quantisation& storage) {
        if (tensor.role != model::Role::projection) return;
        weight_[model::format_of(storage, tensor).name] += static_cast<double>(tensor.parameters());
    }
    std::string most() const {
        const auto found = std::ranges::max_element(
            weight_, [](const auto& one, const auto& other) { return one.second < other.second; });
        return found == weight_.end() ? "" : found->first;
    }

  private:
    std::map<std::string, double> weight_;
};

// Arithmetic beside memory traffic: the longer counts.
struct Roof {
    double flop = 0, bytes = 0;

    double seconds(double rate, double memory, StepTime& time) const {
        const double computing = flop > 0 ? flop / rate : 0;
        const double reading = bytes / memory;
        if (reading > computing) time.memory_bound += reading;
        return std::max(computing, reading);
    }
};

class LayerTime {
  public:
    LayerTime(const StepModel& model, const Layout& layout, const Batch& batch,
              const Speeds& speeds, const ComputeTypes& types)
        : model_(model), layout_(layout), batch_(batch), speeds_(speeds), types_(types) {}

    StepTime of(const StepModel::Group& group) const {
        StepTime time;
        weights(group, time);
        mixing(*group.layer, time);
        between(*group.layer, time);
        return time;
    }

    // Rows of embedding and head: the head's logits are of the last token of each sequence.
    StepTime head() const {
        StepTime time;
        Roof roof;
        for (const auto& piece : model_.holdings().output) {
            const double share = model::share_of_device(piece, layout_);
            roof.bytes += piece.bytes * share;
            roof.flop += 2 * piece.parameters * share * rows();
        }
        if (roof.bytes == 0) roof = tied_head();
        time.products = roof.seconds(rate_of(speeds_, "bf16"), speeds_.memory, time);
        const double logits =
            rows() * static_cast<double>(model_.holdings().vocabulary) * kActivationBytes;
        if (batch_.samples) {
            time.collectives = collective(work::Collective::all_gather, logits, layout_.tensor);
        }
        return time;
    }

    double sent_on() const {
        const double bytes = batch_.tokens() * hidden() * kActivationBytes / layout_.tensor;
        work::Fabric fabric = speeds_.fabric;
        // Stages lie in other domains where one is too small for them all.
        if (layout_.stage_devices(model::Purpose::inference) * layout_.pipeline > fabric.domain) {
            fabric.domain = 1;
        }
        return work::collective_time(work::Collective::send, bytes, 2, fabric).seconds;
    }

  private:
    double hidden() const { return static_cast<double>(model_.holdings().hidden); }
    double rows() const { return batch_.all_logits ? batch_.tokens() : batch_.sequences; }

    Roof tied_head() const {
        const double parameters =
            hidden() * static_cast<double>(model_.holdings().vocabulary) / layout_.tensor;
        return {2 * parameters * rows(), parameters * kActivationBytes};
    }

    double collective(work::Collective kind, double bytes, std::int64_t ranks) const {
        return work::collective_time(kind, bytes, ranks, speeds_.fabric).seconds;
    }

    void weights(const StepModel::Group& group, StepTime& time) const {
        Roof plain, experts;
        const FeedForward& feed = group.layer->feed_forward;
        // Tokens that reach the experts of this device: of all replicas that they are spread over.
        const double reach = batch_.tokens() * layout_.expert * layout_.expert_tensor() /
                             static_cast<double>(layout_.tensor);
        for (const auto& piece : group.held->pieces) {
            const double share = model::share_of_device(piece, layout_);
            // A router or a projection to a latent width is of the experts' part, and every
            // token's.
            if (piece.divided != model::Piece::Divided::by_expert) {
                plain.bytes += piece.bytes * share;
                plain.flop += 2 * piece.parameters * share * batch_.tokens();
                continue;
            }
            const auto all = static_cast<double>(std::max<std::int64_t>(feed.experts, 1));
            const double used = static_cast<double>(feed.top_k) / all;
            experts.bytes += piece.bytes * share * model::distinct_experts(feed, reach) / all;
            experts.flop += 2 * piece.parameters * share * used * reach;
        }
        time.products = plain.seconds(rate_of(speeds_, types_.plain), speeds_.memory, time);
        time.experts = experts.seconds(rate_of(speeds_, types_.experts) * speeds_.grouped,
                                       speeds_.memory, time);
    }

    void mixing(const model::Layer& layer, StepTime& time) const {
        const Mixer& mixer = layer.mixer;
        if (mixer.kind == Mixer::Kind::none) return;
        const double product = rate_of(speeds_, "bf16");
        const double of_rank = share_of_heads(mixer);
        if (mixer.state_elements > 0 || mixer.state_flop > 0) {
            const double states =
                static_cast<double>(mixer.state_elements) * of_rank * batch_.sequences;
            const Roof roof{mixer.state_flop * of_rank * batch_.tokens(),
                            2 * states * model_.use().state_bytes};
            time.recurrence = roof.seconds(product * speeds_.recurrence, speeds_.memory, time);
        }
        if (mixer.kind != Mixer::Kind::attention && mixer.kind != Mixer::Kind::latent) return;

        Roof roof{attention_flop(mixer) * of_rank, 0};
        model::Use use = model_.use();
        use.context = static_cast<std::int64_t>(std::ceil(batch_.context + batch_.new_tokens));
        for (const auto& entry : mixer.cache) {
            roof.bytes += model::cached_bytes(entry, layout_, use) * batch_.sequences;
        }
        time.attention = roof.seconds(product * speeds_.attention, speeds_.memory, time);
    }

    // Of all new tokens and heads.
    double attention_flop(const Mixer& mixer) const {
        const double last = batch_.context + batch_.new_tokens;
        if (batch_.absorbed) {
            return model::decode_attention_flop(mixer, last) * batch_.tokens();
        }
        const auto prompt = [&](double tokens) {
            const auto whole = static_cast<std::int64_t>(tokens);
            return whole == 0 ? 0 : model::prefill_attention_flop(mixer, whole) * tokens;
        };
        return (prompt(last) - prompt(batch_.context)) * batch_.sequences;
    }

    // A rank's part of the heads, with the zeros that its kernels add.
    double share_of_heads(const Mixer& mixer) const {
        if (mixer.heads == 0) return 1;
        auto heads = model::units_of_rank(mixer.heads, layout_.tensor);
        if (mixer.kind == Mixer::Kind::latent) {
            constexpr auto kMultiple = model::kLatentHeadMultiple;
            heads = (heads + kMultiple - 1) / kMultiple * kMultiple;
        }
        return static_cast<double>(heads) / static_cast<double>(mixer.heads);
    }

    void between(const model::Layer& layer, StepTime& time) const {
        const bool mixes = layer.mixer.kind != Mixer::Kind::none;
        const bool feeds = layer.feed_forward.kind != FeedForward::Kind::none;
        time.overhead = (mixes + feeds) * speeds_.sublayer;
        const double residual = batch_.tokens() * hidden() * kActivationBytes;
        const double reduce = collective(work::Collective::all_reduce, residual, layout_.tensor);
        if (mixes) time.collectives += reduce;
        if (!feeds) return;
        const bool spread = layer.feed_forward.kind == FeedForward::Kind::experts &&
                            layout_.expert > layout_.tensor;
        if (!spread) {
            time.collectives += reduce;
            return;
        }
        const double width =
            static_cast<double>(layer.feed_forward.input_width > 0 ? layer.feed_forward.input_width
                                                                   : model_.holdings().hidden);
        // Each rank sends its part of the replica's tokens, once for each expert chosen.
        const double routed = batch_.tokens() / layout_.tensor *
                              static_cast<double>(layer.feed_forward.top_k) * width *
                              kActivationBytes;
        time.collectives += 2 * collective(work::Collective::all_to_all, routed, layout_.expert);
    }

    const StepModel& model_;
    const Layout& layout_;
    const Batch& batch_;
    const Speeds& speeds_;
    const ComputeTypes& types_;
};

StepTime times(const StepTime& one, double count) {
    return {one.products * count,    one.experts * count,     one.attention * count,
            one.recurrence * count,  one.collectives * count, one.overhead * count,
            one.memory_bound * count};
}

}  // namespace

StepTime& StepTime::operator+=(const StepTime& other) {
    products += other.products;
    experts += other.experts;
    attention += other.attention;
    recurrence += other.recurrence;
    collectives += other.collectives;
    overhead += other.overhead;
    memory_bound += other.memory_bound;
    return *this;
}

StepModel::StepModel(const model::Model& model, const model::Holdings& holdings,
                     const model::Use& use)
    : holdings_(holdings), use_(use) {
    Formats plain, experts;
    std::map<std::string, std::size_t> of_kind;
    const auto& layers = model.shape.layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto [found, is_new] = of_kind.try_emplace(layers[i].kind(), groups_.size());
        if (is_new) groups_.push_back({&layers[i], &holdings.layers[i], {}});
        groups_[found->second].indexes.push_back(i);
        for (const auto& tensor : layers[i].tensors) {
            (tensor.part == Part::experts ? experts : plain).add(tensor, model.storage);
        }
    }
    plain_format_ = plain.most();
    expert_format_ = experts.most();
}

ComputeTypes compute_types(const StepModel& model, const Rates& rates) {
    return {rates.compute_type(model.plain_format()), rates.compute_type(model.expert_format())};
}

StepTime stage_time(const StepModel& model, const Layout& layout, int stage, const Batch& batch,
                    const Speeds& speeds, const ComputeTypes& types) {
    const auto [first, last] = model::layers_of(model.holdings(), layout, stage);
    const LayerTime layer(model, layout, batch, speeds, types);
    StepTime time;
    for (const auto& group : model.groups()) {
        const auto from = std::ranges::lower_bound(group.indexes, first);
        const auto to = std::ranges::lower_bound(group.indexes, last);
        if (from != to) time += times(layer.of(group), static_cast<double>(to - from));
    }
    if (stage == layout.pipeline - 1) time += layer.head();
    if (stage < layout.pipeline - 1) time.collectives += layer.sent_on();
    return time;
}

StepTime pipeline_time(const StepModel& model, const Layout& layout, const Batch& batch,
                       const Speeds& speeds, const ComputeTypes& types) {
    StepTime time;
    for (int stage = 0; stage < layout.pipeline; ++stage) {
        time += stage_time(model, layout, stage, batch, speeds, types);
    }
    time.overhead += speeds.step;
    return time;
}

double slowest_stage(const StepModel& model, const Layout& layout, const Batch& batch,
                     const Speeds& speeds, const ComputeTypes& types) {
    double slowest = 0;
    for (int stage = 0; stage < layout.pipeline; ++stage) {
        slowest = std::max(slowest, stage_time(model, layout, stage, batch, speeds, types).total());
    }
    return slowest + speeds.step;
}

}  // namespace assay::plan
