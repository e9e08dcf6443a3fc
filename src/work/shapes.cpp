#include "work/shapes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/range.h"
#include "base/text.h"
#include "base/toml.h"

namespace assay::work {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
constexpr const char* kShapeHint = "write MxNxK in whole numbers: 4096x4096x1024";

// What the matrix products of a transformer layer depend on.
struct ModelFacts {
    std::string_view name;
    std::int64_t hidden, heads, kv_heads, head_dim, feed_forward, vocabulary;
    bool gated;  // gate and up side by side (SwiGLU), else one matrix up
};

// From each model's published config.json.
constexpr std::array<ModelFacts, 3> kModels{{
    {"llama3-8b", 4096, 32, 8, 128, 14336, 128256, true},
    {"llama3-70b", 8192, 64, 8, 128, 28672, 128256, true},
    {"gpt2-1.5b", 1600, 25, 25, 64, 6400, 50257, false},
}};

// SemiAnalysis, "MI300X vs H100 vs H200 benchmark part 1: training", 22 Dec 2024, as it was run:
// Llama-3 70B's layers at tensor parallel 8 with N and K exchanged.
std::vector<Shape> article_shapes() {
    return {{16384, 8192, 1280, "qkv"},
            {16384, 1024, 8192, "out"},
            {16384, 8192, 7168, "gate_up"},
            {16384, 3584, 8192, "down"},
            {8192, 8192, 8192, "square"}};
}

std::vector<Shape> square_shapes() {
    std::vector<Shape> shapes;
    for (std::int64_t size = 256; size <= 8192; size *= 2) shapes.push_back({size, size, size, ""});
    return shapes;
}

// One rank's share of `whole`.
std::int64_t share(const ModelFacts& model, std::string_view what, std::int64_t whole,
                   std::int64_t ranks) {
    if (whole % ranks == 0) return whole / ranks;
    throw UsageError(
        fmt::format("--tp {} doesn't divide the {} {} of {}", ranks, whole, what, model.name),
        "give a number of ranks that divides heads, key/value heads and feed-forward "
        "columns");
}

std::vector<Shape> model_shapes(const ModelFacts& model, std::int64_t tokens, std::int64_t ranks) {
    const auto heads = share(model, "heads", model.heads, ranks);
    const auto kv_heads = share(model, "key/value heads", model.kv_heads, ranks);
    const auto feed_forward = share(model, "feed-forward columns", model.feed_forward, ranks);
    const auto vocabulary =
        model.vocabulary % ranks == 0 ? model.vocabulary / ranks : model.vocabulary;
    return {{tokens, (heads + 2 * kv_heads) * model.head_dim, model.hidden, "qkv"},
            {tokens, model.hidden, heads * model.head_dim, "out"},
            model.gated ? Shape{tokens, 2 * feed_forward, model.hidden, "gate_up"}
                        : Shape{tokens, feed_forward, model.hidden, "up"},
            {tokens, model.hidden, feed_forward, "down"},
            {tokens, vocabulary, model.hidden, "head"}};
}

std::int64_t parse_dimension(std::string_view dimension, std::string_view digits,
                             std::string_view shape) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
        throw UsageError(fmt::format("malformed shape {:?}", shape), kShapeHint);
    }
    if (error != std::errc{} || value < 1 || value > kLargest) {
        throw UsageError(
            fmt::format("{} of {} is {}: must be 1 to {}", dimension, shape, digits, kLargest),
            "give a dimension in that range");
    }
    return value;
}

Shape parse_shape(std::string_view text) {
    const auto parts = split(text, 'x');
    if (parts.size() != 3) throw UsageError(fmt::format("malformed shape {:?}", text), kShapeHint);
    return {parse_dimension("M", parts[0], text), parse_dimension("N", parts[1], text),
            parse_dimension("K", parts[2], text), ""};
}

// One [[shape]] entry of a file, with errors that begin with its place.
class ShapeEntry {
  public:
    ShapeEntry(const nlohmann::json& entry, const TomlDocument& document, std::string pointer)
        : entry_(entry), document_(document), pointer_(std::move(pointer)) {}

    Shape read() const {
        if (!entry_.is_object()) fail(pointer_, "a shape is a [[shape]] table");
        for (const auto& [key, value] : entry_.items()) {
            if (key != "m" && key != "n" && key != "k" && key != "layer") {
                fail(pointer_ + '/' + key, fmt::format("unknown key {:?}", key));
            }
        }
        Shape shape{dimension("m"), dimension("n"), dimension("k"), ""};
        if (const auto layer = entry_.find("layer"); layer != entry_.end()) {
            if (!layer->is_string()) fail(pointer_ + "/layer", "layer must be a string");
            shape.layer = layer->get<std::string>();
        }
        return shape;
    }

  private:
    std::int64_t dimension(const std::string& key) const {
        const auto found = entry_.find(key);
        if (found == entry_.end()) fail(pointer_, fmt::format("shape has no {}", key));
        if (!found->is_number_integer()) {
            fail(pointer_ + '/' + key, fmt::format("{} must be a whole number", key));
        }
        const auto value = found->get<std::int64_t>();
        if (value < 1 || value > kLargest) {
            fail(pointer_ + '/' + key,
                 fmt::format("{} is {}: must be 1 to {}", key, value, kLargest));
        }
        return value;
    }

    [[noreturn]] void fail(const std::string& pointer, const std::string& reason) const {
        throw UsageError(fmt::format("{}: {}", document_.place(pointer), reason),
                         "a shape file holds [[shape]] entries: m, n, k and an optional layer");
    }

    const nlohmann::json& entry_;
    const TomlDocument& document_;
    std::string pointer_;
};

std::vector<Shape> load_shapes(const std::filesystem::path& path) {
    TomlDocument document;
    const auto root = load_toml(path, document);
    for (const auto& [key, value] : root.items()) {
        if (key == "shape") continue;
        throw UsageError(fmt::format("{}: unknown key {:?}", document.place('/' + key), key),
                         "a shape file holds [[shape]] entries only");
    }
    const auto entries = root.find("shape");
    if (entries == root.end() || !entries->is_array() || entries->empty()) {
        throw UsageError(fmt::format("{}: no [[shape]] entry", document.place("/shape")),
                         "add one: [[shape]], then lines m = 4096, n = 4096, k = 1024");
    }
    std::vector<Shape> shapes;
    for (const auto& entry : *entries) {
        shapes.push_back(
            ShapeEntry(entry, document, fmt::format("/shape/{}", shapes.size())).read());
    }
    return shapes;
}

bool names_file(const std::string& word) {
    return word.ends_with(".toml") || word.find('/') != std::string::npos;
}

bool looks_like_shape(const std::string& word) {
    return word.find_first_not_of("0123456789x+-.") == std::string::npos;
}

void check_range(std::string_view what, std::int64_t value) {
    if (value >= 1 && value <= kLargest) return;
    throw UsageError(fmt::format("{} is {}: must be 1 to {}", what, value, kLargest),
                     "give a whole number in that range");
}

}  // namespace

std::vector<Shape> parse_shapes(std::string_view text, std::int64_t tokens,
                                std::int64_t tensor_parallel) {
    check_range("--tokens", tokens);
    check_range("--tp", tensor_parallel);
    std::vector<Shape> shapes;
    const auto append = [&](const std::vector<Shape>& more) {
        shapes.insert(shapes.end(), more.begin(), more.end());
    };
    bool any_model = false;
    for (const auto& word : parse_words(text, "shape")) {
        const auto* model = std::ranges::find(kModels, word, &ModelFacts::name);
        if (model != kModels.end()) {
            any_model = true;
            append(model_shapes(*model, tokens, tensor_parallel));
        } else if (word == "article") {
            append(article_shapes());
        } else if (word == "square") {
            append(square_shapes());
        } else if (names_file(word)) {
            append(load_shapes(word));
        } else if (looks_like_shape(word)) {
            shapes.push_back(parse_shape(word));
        } else {
            auto known = shape_set_names();
            known.insert(known.end(), {"MxNxK", "FILE.toml"});
            throw_unknown("shape", word, known);
        }
    }
    if (tensor_parallel != 1 && !any_model) {
        throw UsageError(fmt::format("--tp {} splits the layers of a model, and {:?} names none",
                                     tensor_parallel, text),
                         "name a model, such as llama3-70b, or leave --tp out");
    }
    return shapes;
}

std::vector<std::string> shape_set_names() {
    std::vector<std::string> names{"article", "square"};
    for (const auto& model : kModels) names.emplace_back(model.name);
    return names;
}

}  // namespace assay::work
