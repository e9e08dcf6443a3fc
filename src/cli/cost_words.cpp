#include "cli/cost_words.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/number_options.h"
#include "plan/finance.h"

namespace assay::cli {

std::vector<std::pair<std::string, std::string>> pairs(const std::string& text,
                                                       const char* option) {
    std::vector<std::pair<std::string, std::string>> pairs;
    if (text.empty()) return pairs;
    for (const auto& word : split(text, ',')) {
        const auto at = word.find('=');
        const auto name = std::string(trim(word.substr(0, at)));
        if (at == std::string::npos || name.empty()) {
            throw UsageError(fmt::format("{} {:?} is not NAME=VALUE", option, word),
                             fmt::format("write {} name=1.5,other=2", option));
        }
        pairs.emplace_back(name, trim(std::string_view(word).substr(at + 1)));
    }
    return pairs;
}

plan::Amounts amounts(const std::string& text, const char* option) {
    plan::Amounts amounts;
    for (const auto& [name, value] : pairs(text, option)) {
        amounts.emplace_back(name, positive_option(value, option));
    }
    return amounts;
}

double share(const std::string& text, const std::string& name) {
    const double value = parse_number(text, name);
    catalog::check_amount(name, "share", value);
    return value;
}

double cost_of_capital(const std::string& text) {
    std::map<std::string, double> terms{{"tax", 0}};
    const std::vector<std::string> known{"debt", "debt-rate", "equity-rate", "tax"};
    for (const auto& [name, value] : pairs(text, "--financing")) {
        if (std::ranges::find(known, name) == known.end()) {
            throw_unknown("term of --financing", name, known);
        }
        terms[name] = share(value, name);
    }
    for (const auto& name : known) {
        if (!terms.contains(name)) {
            throw UsageError("--financing has no " + name,
                             "write debt=0.7,debt-rate=0.09,equity-rate=0.15,tax=0.21");
        }
    }
    return plan::weighted_cost_of_capital(terms["debt"], terms["debt-rate"], terms["equity-rate"],
                                          terms["tax"]);
}

catalog::Network network(const std::string& text, const catalog::Prices& prices) {
    const auto comma = text.find(',');
    auto network = prices.network(text.substr(0, comma));
    if (comma == std::string::npos) return network;
    for (const auto& [key, value] : pairs(text.substr(comma + 1), "--network")) {
        set(network.tree, key, parse_integer(value, key));
    }
    return network;
}

}  // namespace assay::cli
