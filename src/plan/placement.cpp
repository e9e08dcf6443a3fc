#include "plan/placement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"

namespace assay::plan {

namespace {

using model::Layout;
using model::Purpose;

// Where no count is named, this many times what the weights alone need is tried, and more nodes.
constexpr std::int64_t kTriedTimes = 4;
constexpr std::int64_t kMoreNodes = 8;
constexpr std::int64_t kMostDevices = 131'072;

std::vector<int> divisors(std::int64_t number) {
    std::vector<int> list;
    for (std::int64_t d = 1; d <= number; ++d) {
        if (number % d == 0) list.push_back(static_cast<int>(d));
    }
    return list;
}

std::vector<int> choices(const std::optional<int>& fixed, std::vector<int> free) {
    return fixed ? std::vector<int>{*fixed} : std::move(free);
}

auto order(const Layout& layout, Purpose purpose) {
    if (purpose == Purpose::training) {
        return std::tuple(layout.tensor * layout.pipeline, layout.pipeline, layout.expert);
    }
    return std::tuple(layout.data, layout.pipeline, layout.expert);
}

bool has_experts(const model::Transformer& transformer) {
    return std::ranges::any_of(transformer.layers, [](const model::Layer& layer) {
        return layer.feed_forward.kind == model::FeedForward::Kind::experts;
    });
}

// Layouts of one question and count, with what stood against the first that was refused.
class Layouts {
  public:
    Layouts(const Question& question, std::int64_t devices, std::int64_t domain)
        : question_(question),
          widths_(question.widths),
          purpose_(question.use.purpose()),
          devices_(devices),
          domain_(domain),
          experts_(has_experts(question.transformer)) {}

    std::vector<Layout> all() {
        const auto layers = std::ssize(question_.transformer.layers);
        if (widths_.pipeline && *widths_.pipeline > layers) {
            throw UsageError(
                fmt::format("PP {} is more than the {} layers", *widths_.pipeline, layers),
                fmt::format("give --pp {} or fewer", layers));
        }
        std::vector<int> tensor;
        for (const int ways : divisors(std::min(devices_, domain_))) {
            if (devices_ % ways == 0 && domain_ % ways == 0) tensor.push_back(ways);
        }
        for (const int ways : choices(widths_.tensor, tensor)) try_tensor(ways);
        if (found_.empty()) refuse();
        std::ranges::stable_sort(found_, {},
                                 [&](const Layout& layout) { return order(layout, purpose_); });
        return std::move(found_);
    }

  private:
    void try_tensor(int tensor) {
        const int context = widths_.context.value_or(1);
        const auto group =
            static_cast<std::int64_t>(tensor) * (purpose_ == Purpose::training ? context : 1);
        if (devices_ % group != 0) return;
        const auto rest = devices_ / group;
        std::vector<int> stages;
        for (const int ways : divisors(rest)) {
            if (ways <= std::ssize(question_.transformer.layers)) stages.push_back(ways);
        }
        for (const int pipeline : choices(widths_.pipeline, stages)) {
            if (rest % pipeline != 0) continue;
            const auto data = static_cast<int>(rest / pipeline);
            if (widths_.data && *widths_.data != data) continue;
            Layout layout{tensor, pipeline, 1, data, context};
            const auto spread = static_cast<int>(layout.stage_devices(purpose_));
            const auto expert =
                experts_ && spread > 1 ? std::vector<int>{1, spread} : std::vector<int>{1};
            for (const int ways : choices(widths_.expert, expert)) {
                layout.expert = ways;
                consider(layout);
            }
        }
    }

    void consider(const Layout& layout) {
        if (layout.expert > 1 && !experts_) {
            throw UsageError(fmt::format("--ep {}: {} has no experts", layout.expert,
                                         question_.transformer.name),
                             "leave --ep out");
        }
        if (!layout.has_meaning(purpose_)) {
            meaningless_ = layout;
            return;
        }
        const auto against = obstacles(question_.transformer, layout, purpose_);
        const bool refused = std::ranges::any_of(against, [&](const model::Obstacle& obstacle) {
            return !(widths_.padded && obstacle.padding_helps);
        });
        if (!refused) {
            found_.push_back(layout);
        } else if (!refused_) {
            refused_ = against.front();
        }
    }

    [[noreturn]] void refuse() const {
        if (refused_) {
            throw UsageError(refused_->text(),
                             refused_->padding_helps
                                 ? "choose a width that divides it, or --pad to fill up with zeros"
                                 : "choose a width that divides it");
        }
        if (meaningless_) obstacles(question_.transformer, *meaningless_, purpose_);  // throws
        std::string text;
        const auto add = [&](const char* name, const std::optional<int>& ways) {
            if (ways) text += fmt::format(" {} {}", name, *ways);
        };
        add("--tp", widths_.tensor);
        add("--pp", widths_.pipeline);
        add("--dp", widths_.data);
        if (purpose_ == Purpose::training) add("--cp", widths_.context);
        throw UsageError(fmt::format("{} devices don't divide by{}", devices_, text),
                         "name a count that is a multiple of the widths, or leave one of them out");
    }

    const Question& question_;
    const Widths& widths_;
    Purpose purpose_;
    std::int64_t devices_, domain_;
    bool experts_;
    std::vector<Layout> found_;
    std::optional<model::Obstacle> refused_;
    std::optional<Layout> meaningless_;
};

bool fits_on(const Question& question, const Target& target, std::int64_t devices,
             double capacity) {
    const auto layouts = layouts_of(question, devices, target.device.domain);
    return std::ranges::any_of(layouts, [&](const Layout& layout) {
        return missing_bytes(question.holdings, layout, question.use, question.budget, capacity) ==
               0;
    });
}

Placement place_on(const Question& question, const Target& target, std::int64_t devices) {
    const double capacity = target.capacity().value;
    Placement placement;
    placement.devices = devices;
    placement.nodes = target.nodes(devices);
    for (const auto& layout : layouts_of(question, devices, target.device.domain)) {
        placement.layouts.push_back(
            fit(question.holdings, layout, question.use, question.budget, capacity));
    }
    const auto fitting = std::ranges::find_if(placement.layouts, &Fit::fits);
    placement.best = fitting != placement.layouts.end()
                         ? *fitting
                         : *std::ranges::min_element(placement.layouts, {}, &Fit::missing);
    return placement;
}

// A count must be a multiple of this to allow the widths fixed: experts are spread within a stage.
std::int64_t multiple_of(const Widths& widths, Purpose purpose) {
    std::int64_t stage =
        static_cast<std::int64_t>(widths.tensor.value_or(1)) * widths.data.value_or(1);
    if (purpose == Purpose::training) stage *= widths.context.value_or(1);
    stage = std::lcm(stage, static_cast<std::int64_t>(widths.expert.value_or(1)));
    stage = std::lcm(stage, static_cast<std::int64_t>(widths.context.value_or(1)));
    return stage * widths.pipeline.value_or(1);
}

std::vector<std::int64_t> counts_to_try(const Question& question, const Target& target) {
    const auto purpose = question.use.purpose();
    const auto& widths = question.widths;
    const auto fixed = multiple_of(widths, purpose);
    if (widths.tensor && widths.pipeline && widths.data) return {fixed};
    const auto least = least_devices(question, target.capacity().value);
    const auto node = target.per_node();
    std::vector<std::int64_t> counts;
    for (const int part : divisors(node)) counts.push_back(part);
    const auto most =
        std::min(kMostDevices, (kTriedTimes * std::max(least, fixed) / node + kMoreNodes) * node);
    for (auto devices = 2 * node; devices <= most; devices += node) counts.push_back(devices);
    std::erase_if(counts, [&](std::int64_t count) { return count < least || count % fixed != 0; });
    if (counts.empty()) counts.push_back(fixed);
    return counts;
}

}  // namespace

std::vector<Layout> layouts_of(const Question& question, std::int64_t devices,
                               std::int64_t domain) {
    return Layouts(question, devices, domain).all();
}

std::int64_t least_devices(const Question& question, double capacity) {
    const auto& training = question.use.training;
    const auto& holdings = question.holdings;
    const double bytes = training
                             ? holdings.beside + holdings.parameters() * training->optimizer.total()
                             : holdings.bytes();
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(bytes / capacity)));
}

Placement place(const Question& question, const Target& target) {
    const double capacity = target.capacity().value;
    const auto counts =
        target.count ? std::vector<std::int64_t>{*target.count} : counts_to_try(question, target);
    const auto enough = std::ranges::find_if(
        counts, [&](std::int64_t devices) { return fits_on(question, target, devices, capacity); });
    auto placement = place_on(question, target, enough != counts.end() ? *enough : counts.back());
    // Sources that differ may differ in the answer.
    const auto& figures = target.device.memory;
    for (std::size_t i = 1; i < figures.size(); ++i) {
        const bool fits = fits_on(question, target, placement.devices, figures[i].value);
        if (fits == placement.best.fits()) continue;
        placement.notes.push_back(
            fmt::format("{} with {} GB ({}), another source's memory of a device",
                        fits ? "fits" : "doesn't fit", format_number(figures[i].value / 1e9),
                        figures[i].source));
    }
    return placement;
}

}  // namespace assay::plan
