#include "cli/speed_options.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "catalog/published.h"
#include "cli/complain.h"
#include "cli/number_options.h"
#include "model/flop.h"
#include "plan/measured.h"
#include "store/store.h"

namespace assay::cli {

namespace {

constexpr std::int64_t kOutputTokens = 1024;

void expect(bool training, bool wanted, const std::string& value, const char* option) {
    if (training == wanted || value.empty()) return;
    throw UsageError(
        fmt::format("{} {} is of {}", option, value, wanted ? "training" : "inference"),
        wanted ? "add --train" : "leave --train out");
}

}  // namespace

void SpeedOptions::declare(CLI::App& command) {
    command.add_option("--isl", input_, "input tokens of a request; default the rest of --context");
    command.add_option("--osl", output_tokens_,
                       "output tokens of a request; default 1024, or a quarter of --context");
    command.add_option("--speculate", speculate_,
                       "drafts=N,acceptance=TOKENS[,draft=SHARE]: tokens checked a step, tokens "
                       "that a step gives, the draft model's share of a step");
    command.add_option("--slo", slo_, "limits, as ttft=2s,tpot=20ms");
    command.add_option("--price", price_, "$ a device-hour, as mi355x=2.50,b200=4.25");
    command.add_option("--rail", rail_,
                       "GB/s of each device to other domains, one direction; default 50");
    command.add_option("--network-layers", layers_, "of switches between domains; default 2");
    command.add_flag("--sharp", in_network_, "the network's switches reduce");
    command.add_flag("--nvls", nvls_, "the domain's switch reduces");
    command.add_option("--store", store_,
                       "where measured rates are looked for: a file, none, or nothing for the "
                       "default");
    command.add_option("--global-batch", global_batch_,
                       "training: sequences of a step; default 4 micro-batches a stage");
    command.add_option("--flop", flop_, "training: formula of MFU; default semianalysis");
    command.add_option("--failures", failures_,
                       "training: per 1000 node-days; default 3.8 (Llama 3)");
    command.add_option("--restart", restart_, "training: time to restart; default 10m");
    command.add_option("--checkpoint", checkpoint_, "training: time to write one; default 20s");
}

std::int64_t SpeedOptions::context() const {
    if (input_.empty()) return 0;
    const auto output =
        output_tokens_.empty() ? kOutputTokens : count_option(output_tokens_, "--osl");
    return count_option(input_, "--isl") + output;
}

plan::Load SpeedOptions::load(const model::Use& use) const {
    plan::Load load;
    load.batch = use.batch;
    load.output = output_tokens_.empty()
                      ? std::max<std::int64_t>(1, std::min(kOutputTokens, use.context / 4))
                      : count_option(output_tokens_, "--osl");
    load.input = input_.empty() ? use.context - load.output : count_option(input_, "--isl");
    const bool given = !input_.empty() || !output_tokens_.empty();
    if (!given) load.input = std::max<std::int64_t>(1, load.input);
    if (given && load.input + load.output > use.context) {
        throw UsageError(fmt::format("--isl {} and --osl {} are more than --context {}", load.input,
                                     load.output, use.context),
                         "leave --context out, or give one that holds both");
    }
    if (load.input < 1 || load.output < 1) {
        throw UsageError(
            fmt::format("{} tokens in and {} out are no request", load.input, load.output),
            "give --isl and --osl of 1 or more, or a larger --context");
    }
    if (!speculate_.empty()) load.speculation = plan::parse_speculation(speculate_);
    return load;
}

plan::Network SpeedOptions::network() const {
    plan::Network network;
    if (!rail_.empty()) network.rail = plan::rail_of(number_option(rail_, "--rail", 1e-3, 1e6));
    if (!layers_.empty()) {
        const auto layers = parse_integer(layers_, "--network-layers");
        if (layers < 1 || layers > 8) {
            throw UsageError(fmt::format("--network-layers {} is out of range", layers_),
                             "give 1 to 8");
        }
        network.layers = static_cast<int>(layers);
    }
    network.reduces = in_network_;
    network.reduces_inside = nvls_;
    return network;
}

plan::SpeedQuestion SpeedOptions::question(const model::Model& model, const model::Use& use,
                                           const std::vector<plan::Target>& targets) const {
    const bool training = use.training.has_value();
    for (const auto& [value, option] :
         {std::pair{&global_batch_, "--global-batch"}, std::pair{&flop_, "--flop"},
          std::pair{&failures_, "--failures"}, std::pair{&restart_, "--restart"},
          std::pair{&checkpoint_, "--checkpoint"}}) {
        expect(training, true, *value, option);
    }
    for (const auto& [value, option] :
         {std::pair{&input_, "--isl"}, std::pair{&output_tokens_, "--osl"},
          std::pair{&speculate_, "--speculate"}, std::pair{&slo_, "--slo"}}) {
        expect(training, false, *value, option);
    }
    if (targets.empty()) {
        for (const auto& [value, option] :
             {std::pair{&slo_, "--slo"}, std::pair{&price_, "--price"},
              std::pair{&speculate_, "--speculate"}}) {
            if (value->empty()) continue;
            throw UsageError(fmt::format("{} {} is of devices", option, *value),
                             "name them with --on");
        }
    }
    plan::SpeedQuestion question{.model = model};
    if (!training && !targets.empty()) question.load = load(use);
    if (!slo_.empty()) question.slo = plan::parse_slo(slo_);
    question.network = network();
    if (!price_.empty()) question.prices = plan::parse_hour_prices(price_, targets);
    if (!targets.empty()) {
        question.published = catalog::load_published(data_dir() / "published.toml");
    }
    if (!global_batch_.empty()) {
        question.global_batch = count_option(global_batch_, "--global-batch");
        if (question.global_batch < 1) {
            throw UsageError("--global-batch 0 trains nothing", "give 1 or more sequences");
        }
    }
    if (!flop_.empty()) question.flop_formula = model::flop_formula(flop_).name;
    if (!failures_.empty()) question.failures = number_option(failures_, "--failures", 1e-3, 1e6);
    if (!restart_.empty()) question.restart_s = time_option(restart_, "--restart");
    if (!checkpoint_.empty()) question.checkpoint_s = time_option(checkpoint_, "--checkpoint");
    return question;
}

std::vector<std::vector<plan::Measured>> SpeedOptions::measured(
    const std::vector<plan::Target>& targets,
    const std::vector<catalog::Accelerator>& accelerators) const {
    std::vector<std::vector<plan::Measured>> list(targets.size());
    const auto path = store_.empty() ? user_data_dir() / "assay.db" : std::filesystem::path(store_);
    if (store_ == "none") return list;
    if (!std::filesystem::exists(path)) {  // planning makes none
        if (store_.empty()) return list;
        throw UsageError("no store at " + store_,
                         "name a file that assay wrote results to, or --store none");
    }
    try {
        const auto store = store::open_store(store_);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            list[i] = plan::measured_on(*store, targets[i].device, accelerators);
        }
    } catch (const Interrupted&) {
        throw;
    } catch (const Error& error) {
        if (!store_.empty()) throw;
        complain(error.what(), "planning goes on with published rates");
    }
    return list;
}

}  // namespace assay::cli
