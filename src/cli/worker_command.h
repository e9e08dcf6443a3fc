// The hidden subcommand that a crew child is: measures what its parent asks for.
#pragma once

#include "cli/command.h"
#include "suite/executor.h"

namespace assay::cli {

class WorkerCommand final : public Command {
  public:
    CLI::App* declare(CLI::App& app) override {
        return app.add_subcommand(suite::kWorkerCommand)->group("");
    }
    int run() override { return suite::serve_worker(); }
};

}  // namespace assay::cli
