// `assay cost`: what a system costs to own or rent, and what a token or a training run costs on it.
#pragma once

#include <optional>
#include <string>

#include "catalog/scenario.h"
#include "cli/command.h"
#include "plan/cost_report.h"
#include "report/format.h"

namespace assay::cli {

class CostCommand final : public Command {
  public:
    CLI::App* declare(CLI::App& app) override;
    int run() override;

  private:
    // As written; "" where not given.
    struct Words {
        std::string system, servers, network, storage = "per-tb", power = "counted", job_nodes;
        std::string without, capital, monthly;
        std::string rate, devices;
        std::string tokens_per_s, counts = "output", input_share, instance;
        std::string concurrency = "1", input_tokens, output_tokens, ttft, tpot;
        std::string training_tokens, training_tokens_per_s, step;
        std::string compare, compare_servers, compare_network, compare_rate, compare_tokens_per_s,
            compare_training_tokens_per_s, compare_instance;
        std::string prices, set, financing, date, scenario;
        std::string format = "table", output = "-";
        bool bom = false, list = false;
    };

    void declare_system(CLI::App& command);
    void declare_work(CLI::App& command);
    void declare_rest(CLI::App& command);
    // Puts the scenario's options where the command line gives none.
    void follow(const catalog::Scenario& scenario);
    bool given(const char* option) const;
    void refuse_idle_options() const;

    catalog::Prices load_prices() const;
    plan::Deployment deployment(const catalog::Prices& prices) const;
    plan::Work work(std::int64_t devices) const;
    plan::SystemCost first(const catalog::Prices& prices) const;
    plan::SystemCost second(const catalog::Prices& prices, const plan::SystemCost& first) const;
    int print_bill(const catalog::Prices& prices, report::Format format) const;
    int print_list(const catalog::Prices& prices, report::Format format) const;
    int print(const plan::CostReport& report, report::Format format) const;
    std::string today() const;

    CLI::App* command_ = nullptr;
    Words words_;
    std::optional<catalog::Scenario> scenario_;
};

}  // namespace assay::cli
