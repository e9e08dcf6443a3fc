#include "suite/executor.h"

#include "base/error.h"
#include "crew/crew.h"
#include "suite/worker.h"

namespace assay::suite {

namespace {

class ChildExecutor final : public Executor {
  public:
    ChildExecutor(const std::string& program, const std::string& name)
        : child_(name, crew::Command{{program, kWorkerCommand}}) {}

    Json ask(const Json& request, double limit_s, const News& on_news) override {
        crew::Limits limits;
        limits.request_s = limit_s;
        return child_.request(request, limits, on_news);
    }
    void renew() override { child_.stop(); }

  private:
    crew::Child child_;
};

class InProcessExecutor final : public Executor {
  public:
    Json ask(const Json& request, double /*limit_s*/, const News& on_news) override {
        return worker_.answer(request, on_news);
    }
    void renew() override { worker_ = Worker{}; }

  private:
    Worker worker_;
};

}  // namespace

std::unique_ptr<Executor> child_executor(const std::string& program, const std::string& name) {
    return std::make_unique<ChildExecutor>(program, name);
}

std::unique_ptr<Executor> in_process_executor() {
    return std::make_unique<InProcessExecutor>();
}

int serve_worker() {
    Worker worker;
    crew::serve(
        [&](const Json& request, const crew::Send& send) { return worker.answer(request, send); });
    return kExitFine;
}

}  // namespace assay::suite
