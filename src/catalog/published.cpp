#include "catalog/published.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/units.h"
#include "catalog/fact_file.h"
#include "catalog/source.h"

namespace assay::catalog {

namespace {

using nlohmann::json;

class Reader {
  public:
    explicit Reader(const std::filesystem::path& path) : file_(path, json_) {}

    std::vector<Published> rows() {
        file_.expect_keys("", json_, {"source", "row"});
        sources_ = read_sources(file_, json_);
        std::vector<Published> rows;
        for (const auto& row : file_.array(json_, "", "row")) {
            rows.push_back(published(row, fmt::format("/row/{}", rows.size())));
        }
        return rows;
    }

  private:
    std::array<std::int64_t, 3> shape(const json& value, const std::string& at) const {
        if (!value.is_array() || value.size() != 3) file_.fail(at, "expected [M, N, K]");
        std::array<std::int64_t, 3> shape{};
        for (std::size_t i = 0; i < shape.size(); ++i) {
            shape.at(i) = file_.integer(value[i], fmt::format("{}/{}", at, i));
        }
        return shape;
    }

    void read_value(const json& row, const std::string& at, Published& published) const {
        const std::string here = at + "/value";
        if (!row.contains("value") || !row.at("value").is_array()) {
            published.value = file_.number(row, at, "value");
            return;
        }
        const auto& range = row.at("value");
        if (range.size() != 2) file_.fail(here, "expected a number or [LEAST, MOST]");
        published.value = file_.number(range[0], here + "/0");
        published.most = file_.number(range[1], here + "/1");
        if (*published.most < published.value) file_.fail(here, "the least is above the most");
    }

    void read_case(const json& row, const std::string& at, Published& published) const {
        const std::string here = at + "/case";
        const auto& pairs = file_.table(row, at, "case");
        for (const auto& [name, value] : pairs.items()) {
            published.pairs[name] =
                value.is_string()
                    ? value.get<std::string>()
                    : std::to_string(file_.integer(value, fmt::format("{}/{}", here, name)));
        }
    }

    Published published(const json& row, const std::string& at) const {
        if (!row.is_object()) file_.fail(at, "row is written [[row]]");
        file_.expect_keys(at, row,
                          {"kind", "what", "probe", "device", "over", "dtype", "shapes", "op",
                           "size", "case", "value", "unit", "method", "source", "secondary"});
        Published p;
        if (row.contains("kind") && file_.word(row, at, "kind", {"measured", "ratio"}) == "ratio") {
            p.kind = Published::Kind::ratio;
        }
        const bool ratio = p.kind == Published::Kind::ratio;
        p.what = file_.text_or(row, at, "what", "");
        p.probe = file_.text(row, at, "probe");
        p.device = file_.text(row, at, "device");
        if (ratio) p.over = file_.text(row, at, "over");
        if (!ratio && row.contains("over"))
            file_.fail(at + "/over", "only a ratio is over another");
        p.dtype = file_.text_or(row, at, "dtype", "");
        if (row.contains("shapes")) {
            for (const auto& value : file_.array(row, at, "shapes")) {
                p.shapes.push_back(shape(value, fmt::format("{}/shapes/{}", at, p.shapes.size())));
            }
        }
        p.op = file_.text_or(row, at, "op", "");
        p.size = file_.text_or(row, at, "size", "");
        if (row.contains("case")) read_case(row, at, p);
        read_value(row, at, p);
        p.unit = ratio ? file_.word(row, at, "unit", {"ratio"})
                       : file_.word(row, at, "unit",
                                    {"TFLOP/s", "GB/s", "tokens/s", "s", "tokens/s per $/h"});
        p.method = file_.text(row, at, "method");
        const auto& source = named_source(file_, row, at, sources_);
        p.source = source.text;
        p.date = source.date;
        p.secondary = source.secondary || file_.flag(row, at, "secondary");
        return p;
    }

    json json_;
    FactFile file_;
    Sources sources_;
};

bool has_or_lacks(const record::Case& what, const char* name, std::string_view value) {
    return !what.has(name) || what.at(name) == value;
}

bool has_random_inputs(const record::Case& what) {
    return has_or_lacks(what, "inputs", "normal") || has_or_lacks(what, "inputs", "uniform");
}

bool same_product(const Published& row, const record::Case& what) {
    for (const auto* name : {"m", "n", "k", "dtype"}) {
        if (!what.has(name)) return false;
    }
    if (!has_or_lacks(what, "batch", "1") || !has_or_lacks(what, "epilogue", "none")) return false;
    if (!has_random_inputs(what)) return false;
    const std::array<std::int64_t, 3> shape{what.integer("m"), what.integer("n"),
                                            what.integer("k")};
    return row.dtype == what.at("dtype") &&
           std::ranges::find(row.shapes, shape) != row.shapes.end();
}

bool same_kernel(const Published& row, const record::Case& what) {
    if (!what.has("op") || row.op != what.at("op")) return false;
    return row.size.empty() || (what.has("size") && row.size == what.at("size"));
}

bool same_attention(const Published& row, const record::Case& what) {
    static constexpr std::array kIrrelevant{"dtype", "inputs", "layout", "provider", "cache"};
    if (row.pairs.empty() || !what.has("dtype") || what.at("dtype") != row.dtype) return false;
    if (!has_random_inputs(what)) return false;
    for (const auto& pair : what.pairs()) {
        const auto wanted = row.pairs.find(pair.name);
        if (wanted != row.pairs.end()
                ? pair.value != wanted->second
                : !pair.is_default &&
                      std::ranges::find(kIrrelevant, pair.name) == kIrrelevant.end()) {
            return false;
        }
    }
    return std::ranges::all_of(row.pairs, [&](const auto& pair) { return what.has(pair.first); });
}

}  // namespace

std::string Published::value_text() const {
    return most ? fmt::format("{} to {}", exact_number(value), exact_number(*most))
                : exact_number(value);
}

std::string Published::source_text() const {
    return fmt::format("{}{}{}: {}", source, date.empty() ? "" : ", " + date,
                       secondary ? ", secondary" : "", method);
}

std::vector<Published> load_published(const std::filesystem::path& file) {
    return Reader(file).rows();
}

std::vector<Published> find_published(const std::vector<Published>& rows,
                                      std::string_view device_model, const record::Result& result) {
    std::vector<Published> found;
    for (const auto& row : rows) {
        if (row.kind != Published::Kind::measured) continue;
        if (row.probe != result.probe || row.device != device_model) continue;
        const bool same = row.probe == "gemm"        ? same_product(row, result.what)
                          : row.probe == "memory"    ? same_kernel(row, result.what)
                          : row.probe == "attention" ? same_attention(row, result.what)
                                                     : false;
        if (same) found.push_back(row);
    }
    return found;
}

}  // namespace assay::catalog
