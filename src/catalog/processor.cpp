#include "catalog/processor.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "catalog/fact_file.h"

namespace assay::catalog {

namespace {

using nlohmann::json;

class Reader {
  public:
    explicit Reader(const std::filesystem::path& path) : file_(path, json_) {}

    std::vector<Processor> processors() const {
        file_.expect_keys("", json_, {"core", "processor"});
        std::map<std::string, Core> cores;
        for (const auto& [name, table] : file_.table(json_, "", "core").items()) {
            cores[name] = core(name, table, "/core/" + name);
        }
        std::vector<Processor> rows;
        for (const auto& row : file_.array(json_, "", "processor")) {
            rows.push_back(processor(row, fmt::format("/processor/{}", rows.size()), cores));
        }
        return rows;
    }

  private:
    Core core(const std::string& name, const json& table, const std::string& at) const {
        Core core{name, {}, file_.text(table, at, "source")};
        for (const auto& [type, ways] : table.items()) {
            if (type == "source") continue;
            const std::string here = at + "/" + type;
            if (!ways.is_object()) {
                file_.fail(here, "expected { \"instruction sets\" = FLOP per cycle }");
            }
            for (const auto& [features, flop] : ways.items()) {
                core.rates[type].push_back(
                    {split(features, ' '),
                     static_cast<double>(file_.integer(flop, here + "/" + features))});
            }
        }
        return core;
    }

    Core named_core(const json& row, const std::string& at, const std::string& key,
                    const std::map<std::string, Core>& cores) const {
        const auto name = file_.text(row, at, key);
        const auto found = cores.find(name);
        if (found == cores.end()) file_.fail(at + "/" + key, fmt::format("no [core.{}]", name));
        return found->second;
    }

    Processor processor(const json& row, const std::string& at,
                        const std::map<std::string, Core>& cores) const {
        if (!row.is_object()) file_.fail(at, "processor is written [[processor]]");
        file_.expect_keys(at, row,
                          {"name", "vendor", "family", "models", "steppings", "brands", "core",
                           "efficiency_core", "channels", "mts", "source"});
        Processor processor;
        processor.name = file_.text(row, at, "name");
        processor.vendor = file_.text(row, at, "vendor");
        if (!row.contains("family")) file_.fail(at, "\"family\" is missing");
        processor.family = file_.integer(row.at("family"), at + "/family");
        processor.models = file_.integers(row, at, "models");
        if (row.contains("steppings")) processor.steppings = file_.integers(row, at, "steppings");
        if (row.contains("brands")) processor.brands = file_.texts(row, at, "brands");
        processor.core = named_core(row, at, "core", cores);
        if (row.contains("efficiency_core")) {
            processor.efficiency_core = named_core(row, at, "efficiency_core", cores);
        }
        processor.channels = file_.optional_integer(row, at, "channels");
        processor.mts = file_.optional_integer(row, at, "mts");
        processor.source = file_.text(row, at, "source");
        return processor;
    }

    json json_;
    FactFile file_;
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
    return Reader(file).processors();
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
