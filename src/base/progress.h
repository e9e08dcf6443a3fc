// Progress to standard error: a bar redrawn on a terminal, a line for each step elsewhere.
#pragma once

#include <cstdio>
#include <string>

namespace assay {

class Progress {
  public:
    explicit Progress(bool quiet, std::FILE* stream = stderr);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // The time that the whole is expected to take, from now on; 0, as at first: unknown.
    void expect(double budget_s) { budget_s_ = budget_s; }
    // Work `done` of `total` is complete, `what` runs now. The time left is told from the budget
    // until enough is done to extrapolate.
    void step(std::size_t done, std::size_t total, const std::string& what);
    // A line that stays, above the bar.
    void note(const std::string& line);
    void finish();

  private:
    double seconds_left(std::size_t done, std::size_t total) const;
    void clear_bar();

    double budget_s_ = 0;
    bool quiet_;
    bool terminal_;
    std::FILE* stream_;
    double started_;
    bool drawn_ = false;
};

}  // namespace assay
