// Options of a probe, the same from the command line and from a suite file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::probes {

struct OptionSpec {
    std::string name;           // "shapes": --shapes on the command line
    std::string default_value;  // "" when there is none
    std::string metavar;        // "MxNxK,...|FILE"
    std::string help;
    std::string implied = {};  // the value of the bare option; "": it needs one
};

class Options {
  public:
    explicit Options(std::vector<OptionSpec> specs) : specs_(std::move(specs)) {}

    // Throws UsageError for an unknown name, with the nearest.
    void set(const std::string& name, std::string value);
    // The given value, else the default.
    const std::string& at(std::string_view name) const;
    const std::vector<OptionSpec>& specs() const { return specs_; }
    const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

  private:
    std::vector<OptionSpec> specs_;
    std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace assay::probes
