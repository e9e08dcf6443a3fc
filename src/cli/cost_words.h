// Words of `assay cost` that hold several values. Each throws UsageError for what it can't read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "catalog/prices.h"
#include "plan/ownership.h"

namespace assay::cli {

// "NAME=VALUE,NAME=VALUE"
std::vector<std::pair<std::string, std::string>> pairs(const std::string& text, const char* option);
// The same of numbers above 0.
plan::Amounts amounts(const std::string& text, const char* option);
// 0 to 1.
double share(const std::string& text, const std::string& name);
// "debt=0.7,debt-rate=0.09,equity-rate=0.15,tax=0.21"
double cost_of_capital(const std::string& text);
// "NAME,key=value,...": the network of that name, wired otherwise.
catalog::Network network(const std::string& text, const catalog::Prices& prices);

}  // namespace assay::cli
