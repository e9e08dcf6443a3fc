// The errors every room throws. An error is one line that names the thing and the value, and a
// second line, the hint, that says what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace assay {

class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& what, std::string hint = {})
        : std::runtime_error(what), hint_(std::move(hint)) {}
    ~Error() override;  // out of line: the type must exist once, for modules to throw it

    const std::string& hint() const noexcept { return hint_; }

  private:
    std::string hint_;
};

// The user asked for something that has no meaning: exit status 2.
class UsageError : public Error {
  public:
    using Error::Error;
    ~UsageError() override;
};

// The request has a meaning, but not on this device or machine: the case is `skipped`.
class Unsupported : public Error {
  public:
    using Error::Error;
    ~Unsupported() override;
};

// The device can't be used any more: the child that sees this must end.
class DeviceLost : public Error {
  public:
    using Error::Error;
    ~DeviceLost() override;
};

// The user asked to stop: exit status 130, with what was measured kept.
class Interrupted : public Error {
  public:
    Interrupted() : Error("interrupted") {}
    ~Interrupted() override;
};

// The exit statuses of the program (docs/architecture.md).
enum ExitStatus : int {
    kExitFine = 0,
    kExitFailed = 1,  // an asked case failed, or nothing asked for was measured
    kExitUsage = 2,   // the command line or an input file has no meaning
    kExitLimit = 3,   // a check, comparison or limit did not hold
    kExitInterrupted = 130
};

}  // namespace assay
