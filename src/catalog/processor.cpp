#include "catalog/processor.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/toml.h"

namespace assay::catalog {

namespace {

using nlohmann::json;

// The file on its way to rows; knows where each value stands.
class File {
  public:
    explicit File(const std::filesystem::path& path) : json_(load_toml(path, document_)) {}

    std::vector<Processor> processors() const {
        expect_keys("", json_, {"core", "processor"});
        std::map<std::string, Core> cores;
        for (const auto& [name, table] : need(json_, "", "core", json::value_t::object).items()) {
            cores[name] = core(name, table, "/core/" + name);
        }
        std::vector<Processor> rows;
        for (const auto& row : need(json_, "", "processor", json::value_t::array)) {
            rows.push_back(processor(row, fmt::format("/processor/{}", rows.size()), cores));
        }
        return rows;
    }

  private:
    [[noreturn]] void fail(const std::string& at, const std::string& reason) const {
        throw UsageError(document_.place(at) + ": " + reason,
                         "the head of the file says what a row holds");
    }

    void expect_keys(const std::string& at, const json& table,
                     const std::vector<std::string>& known) const {
        for (const auto& [key, value] : table.items()) {
            if (std::ranges::find(known, key) == known.end()) {
                fail(at + "/" + key, fmt::format("unknown key \"{}\"", key));
            }
        }
    }

    const json& need(const json& table, const std::string& at, const std::string& key,
                     json::value_t type) const {
        if (!table.contains(key)) fail(at, fmt::format("\"{}\" is missing", key));
        const auto& value = table.at(key);
        if (value.type() != type) fail(at + "/" + key, fmt::format("\"{}\" has another type", key));
        return value;
    }

    std::string text(const json& table, const std::string& at, const std::string& key) const {
        auto value = need(table, at, key, json::value_t::string).get<std::string>();
        if (value.empty()) fail(at + "/" + key, fmt::format("\"{}\" is empty", key));
        return value;
    }

    int integer(const json& value, const std::string& at) const {
        if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
            value.get<std::int64_t>() > 1'000'000) {
            fail(at, "expected a whole number from 0 to 1,000,000");
        }
        return value.get<int>();
    }

    std::optional<int> optional_integer(const json& table, const std::string& at,
                                        const std::string& key) const {
        if (!table.contains(key)) return std::nullopt;
        return integer(table.at(key), at + "/" + key);
    }

    std::vector<int> integers(const json& table, const std::string& at,
                              const std::string& key) const {
        std::vector<int> values;
        for (const auto& value : need(table, at, key, json::value_t::array)) {
            values.push_back(integer(value, at + "/" + key));
        }
        return values;
    }

    Core core(const std::string& name, const json& table, const std::string& at) const {
        Core core{name, {}, text(table, at, "source")};
        for (const auto& [type, ways] : table.items()) {
            if (type == "source") continue;
            const std::string here = at + "/" + type;
            if (!ways.is_object()) fail(here, "expected { \"instruction sets\" = FLOP per cycle }");
            for (const auto& [features, flop] : ways.items()) {
                core.rates[type].push_back(
                    {split(features, ' '),
                     static_cast<double>(integer(flop, here + "/" + features))});
            }
        }
        return core;
    }

    Core named_core(const json& row, const std::string& at, const std::string& key,
                    const std::map<std::string, Core>& cores) const {
        const auto name = text(row, at, key);
        const auto found = cores.find(name);
        if (found == cores.end()) fail(at + "/" + key, fmt::format("no [core.{}]", name));
        return found->second;
    }

    Processor processor(const json& row, const std::string& at,
                        const std::map<std::string, Core>& cores) const {
        if (!row.is_object()) fail(at, "processor is written [[processor]]");
        expect_keys(at, row,
                    {"name", "vendor", "family", "models", "steppings", "brands", "core",
                     "efficiency_core", "channels", "mts", "source"});
        Processor processor;
        processor.name = text(row, at, "name");
        processor.vendor = text(row, at, "vendor");
        if (!row.contains("family")) fail(at, "\"family\" is missing");
        processor.family = integer(row.at("family"), at + "/family");
        processor.models = integers(row, at, "models");
        if (row.contains("steppings")) processor.steppings = integers(row, at, "steppings");
        if (row.contains("brands")) {
            for (const auto& brand : need(row, at, "brands", json::value_t::array)) {
                if (!brand.is_string()) fail(at + "/brands", "expected words");
                processor.brands.push_back(brand.get<std::string>());
            }
        }
        processor.core = named_core(row, at, "core", cores);
        if (row.contains("efficiency_core")) {
            processor.efficiency_core = named_core(row, at, "efficiency_core", cores);
        }
        processor.channels = optional_integer(row, at, "channels");
        processor.mts = optional_integer(row, at, "mts");
        processor.source = text(row, at, "source");
        return processor;
    }

    TomlDocument document_;
    json json_;
};

// Decimal, or hexadecimal after 0x, as the kernel writes ARM's numbers.
std::optional<int> number(const record::DeviceFacts& facts, const char* name) {
    const auto fact = facts.facts.find(name);
    if (fact == facts.facts.end()) return std::nullopt;
    std::string_view text = fact->second;
    const int base = text.starts_with("0x") ? 16 : 10;
    if (base == 16) text.remove_prefix(2);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

template <class Values, class Value>
bool any_or_holds(const Values& values, const Value& value) {
    return values.empty() || std::ranges::find(values, value) != values.end();
}

}  // namespace

std::vector<Processor> load_processors(const std::filesystem::path& file) {
    return File(file).processors();
}

std::optional<Identity> identity(const record::DeviceFacts& facts) {
    const auto implementer = number(facts, "implementer");
    const auto part = number(facts, "part");
    if (implementer && part) return Identity{"ARM", *implementer, *part, std::nullopt};
    const auto family = number(facts, "family");
    const auto model = number(facts, "model");
    if (!family || !model) return std::nullopt;
    return Identity{facts.vendor, *family, *model, number(facts, "stepping")};
}

const Processor* find_processor(const std::vector<Processor>& processors,
                                const record::DeviceFacts& facts) {
    const auto id = identity(facts);
    if (!id) return nullptr;
    const auto fits = [&](const Processor& row) {
        return row.vendor == id->vendor && row.family == id->family &&
               std::ranges::find(row.models, id->model) != row.models.end() &&
               any_or_holds(row.steppings, id->stepping.value_or(-1)) &&
               (row.brands.empty() || std::ranges::any_of(row.brands, [&](const auto& brand) {
                    return facts.name.find(brand) != std::string::npos;
                }));
    };
    const auto found = std::ranges::find_if(processors, fits);
    return found == processors.end() ? nullptr : &*found;
}

}  // namespace assay::catalog
