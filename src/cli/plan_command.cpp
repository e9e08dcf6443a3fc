#include "cli/plan_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/number_options.h"
#include "model/checkpoint.h"
#include "model/config.h"
#include "plan/planning.h"
#include "record/json.h"
#include "report/format.h"
#include "report/plan.h"
#include "report/speed.h"

namespace assay::cli {

namespace {

constexpr std::int64_t kContext = 8192;

std::optional<int> width_of(const std::string& text, const char* option) {
    if (text.empty()) return std::nullopt;
    const auto width = parse_integer(text, option);
    if (width < 1 || width > model::kMostWays) {
        throw UsageError(fmt::format("{} {} is out of range", option, width),
                         fmt::format("give a whole number from 1 to {}", model::kMostWays));
    }
    return static_cast<int>(width);
}

// Options that say nothing of the other use are a mistake, not a default.
void expect_training(const std::string& value, const char* option) {
    if (value.empty()) return;
    throw UsageError(fmt::format("{} {} is of training", option, value), "add --train");
}

void expect_inference(const std::string& value, const char* option) {
    if (value.empty()) return;
    throw UsageError(fmt::format("{} {} is of inference", option, value), "leave --train out");
}

// Of a folder that holds one.
std::optional<model::Checkpoint> checkpoint_beside(const std::string& model) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (!fs::is_directory(model, ignored)) return std::nullopt;
    const bool holds = std::ranges::any_of(
        fs::directory_iterator(model, ignored), [](const fs::directory_entry& entry) {
            const auto name = entry.path().filename().string();
            return name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json");
        });
    if (!holds) return std::nullopt;
    return model::read_checkpoint(model);
}

}  // namespace

CLI::App* PlanCommand::declare(CLI::App& app) {
    auto* command = app.add_subcommand("plan", "does a model fit, on which devices, how fast");
    command->add_option("model", model_, "a shipped model's name, or a path to its config.json")
        ->required();
    on_option_ = command->add_option(
        "--on", on_,
        "devices, as 8xmi355x,16xb200,b300; without a number the smallest that fits; none: what "
        "the model holds");
    command->add_option("--context", context_, "tokens of a request or sequence; default 8192");
    command->add_option("--batch", batch_,
                        "requests at a time, of training sequences of a micro-batch; default 1");
    command->add_option("--budget", budget_, "of-total:FRACTION or of-free:FRACTION of the memory")
        ->capture_default_str();
    command->add_option("--weights", weights_, "type of the weights; default as the config says");
    command->add_option("--kv-dtype", kv_dtype_, "type of the cache: fp8, ...; default bf16");
    command->add_option("--state-dtype", state_dtype_, "type of recurrent states; default fp32");
    command->add_option("--workspace", workspace_,
                        "allowance of each device for what no formula gives; default 3584M");
    command->add_flag("--mtp", predictors_, "hold the multi-token-prediction layers too");
    command->add_flag("--text-only", text_only_, "without a vision tower and its like");
    command->add_option("--tp", tensor_, "tensor parallel width; default all that fit are tried");
    command->add_option("--pp", pipeline_, "pipeline stages");
    command->add_option("--dp", data_, "replicas, with tp 1 of the attention alone under --ep");
    command->add_option("--ep", expert_, "ranks that experts are spread over");
    command->add_option("--cp", context_parallel_, "ranks that the tokens are divided over");
    command->add_flag("--pad", pad_, "fill up with zeros what doesn't divide");
    command->add_flag("--train", train_, "plan a training step");
    command->add_option("--zero", zero_, "ZeRO stage 0 to 3; default 0");
    command->add_option("--optimizer", optimizer_,
                        "layout of the optimizer's states; default megatron");
    command->add_option("--recompute", recompute_, "none, norms or full; default none");
    speed_.declare(*command);
    command->add_flag("--assume", assume_, "take an unknown architecture as a plain decoder");
    command->add_option("--accelerators", accelerators_, "catalog of devices, a TOML file");
    command->add_option("--format", format_, "table, json or csv")->capture_default_str();
    command->add_option("--output", output_, "file, - for standard output")->capture_default_str();
    command->footer(
        "Examples:\n"
        "  assay plan kimi-k3 --on 8xmi355x,16xb200,b300\n"
        "  assay plan llama3-70b --on h100 --context 32K --batch 16 --kv-dtype fp8\n"
        "  assay plan kimi-k3 --on 8xmi355x,8xb300 --isl 1024 --osl 400 --batch 8 "
        "--price mi355x=2.50,b300=6.00\n"
        "  assay plan llama3-70b --on 8xh200,8xmi300x --slo ttft=2s,tpot=20ms\n"
        "  assay plan deepseek-v3 --on 16xh200 --tp 1 --dp 16 --ep 16 --budget of-free:0.9\n"
        "  assay plan ./config.json --on 8xh100 --train --zero 3 --optimizer bf16-moments");
    return command;
}

model::Use PlanCommand::use(std::int64_t positions) const {
    model::Use use;
    use.context = !context_.empty()      ? count_option(context_, "--context")
                  : speed_.context() > 0 ? speed_.context()
                  : positions > 0        ? std::min(kContext, positions)
                                         : kContext;
    if (!batch_.empty()) use.batch = count_option(batch_, "--batch");
    if (!workspace_.empty()) use.workspace = static_cast<double>(parse_size(workspace_));
    if (train_) {
        expect_inference(kv_dtype_, "--kv-dtype");
        expect_inference(state_dtype_, "--state-dtype");
        use.training = training();
    } else {
        expect_training(zero_, "--zero");
        expect_training(optimizer_, "--optimizer");
        expect_training(recompute_, "--recompute");
        if (!kv_dtype_.empty()) use.cache = model::cache_type(kv_dtype_);
        if (!state_dtype_.empty()) use.state_bytes = model::cache_type(state_dtype_).bytes;
    }
    return use;
}

model::Training PlanCommand::training() const {
    model::Training training;
    if (!zero_.empty()) {
        const auto stage = parse_integer(zero_, "--zero");
        if (stage < 0 || stage > 3) {
            throw UsageError(fmt::format("--zero {} is no stage", stage), "give 0, 1, 2 or 3");
        }
        training.zero = static_cast<int>(stage);
    }
    if (!optimizer_.empty()) training.optimizer = model::find_optimizer_layout(optimizer_);
    if (!recompute_.empty()) training.recompute = model::parse_recompute(recompute_);
    return training;
}

plan::Widths PlanCommand::widths() const {
    plan::Widths widths;
    widths.tensor = width_of(tensor_, "--tp");
    widths.pipeline = width_of(pipeline_, "--pp");
    widths.expert = width_of(expert_, "--ep");
    widths.data = width_of(data_, "--dp");
    widths.context = width_of(context_parallel_, "--cp");
    widths.padded = pad_;
    return widths;
}

int PlanCommand::run() {
    const auto format = report::parse_format(format_);
    const auto budget = plan::parse_budget(budget_);
    const auto widths = this->widths();
    std::vector<plan::Target> targets;
    std::vector<catalog::Accelerator> accelerators;
    if (on_option_->count() > 0) {
        accelerators = catalog::load_accelerators(accelerators_.empty()
                                                      ? data_dir() / "accelerators.toml"
                                                      : std::filesystem::path(accelerators_));
        targets = plan::parse_targets(on_, accelerators);
    }
    const auto model = model::load_model(model_, {assume_, weights_});
    const auto use = this->use(model.shape.positions);
    const auto holdings = model::holdings_of(model, predictors_, text_only_);
    auto plan = plan::make_plan({model.shape, holdings, use, budget, widths}, targets);
    plan.model.stored_as = model.storage.name;
    if (const auto checkpoint = checkpoint_beside(model_)) {
        plan.model.checkpoint = checkpoint->source;
        plan.model.files = model::compare(model, *checkpoint);
    }
    auto question = speed_.question(model, use, targets);
    question.measured = speed_.measured(targets, accelerators);
    const auto speed = plan::make_speed_plan(plan, holdings, question);

    record::Run run;
    run.id = record::new_run_id();
    run.started = utc_now();
    run.command = command_line();
    run.provenance = record::collect_provenance();
    run.ended = utc_now();
    switch (format) {
        case report::Format::json: {
            Json json = report::plan_json(plan);
            json["speed"] = report::speed_json(speed);
            write_file(output_, dump_line(record::to_json(run, "plan", json)) + "\n");
            break;
        }
        case report::Format::csv:
            write_file(output_, report::plan_csv(plan, speed));
            break;
        case report::Format::table:
            write_file(output_, report::plan_text(plan) + report::speed_text(plan, speed));
            break;
    }
    return plan.named_count_fails() || speed.slo_fails() ? kExitLimit : kExitFine;
}

}  // namespace assay::cli
