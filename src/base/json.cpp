#include "base/json.h"

#include <charconv>

#include <fmt/format.h>

#include "base/error.h"

namespace assay {
namespace {

// Writing a document recurses, so a document nested without end would exhaust the stack.
constexpr int kDeepest = 256;

// What remains of nlohmann's message once its own name and the place are taken off.
std::string_view reason_of(std::string_view message) {
    message.remove_prefix(message.find("] ") + 2);
    constexpr std::string_view kColumn = ", column ";
    if (const auto column = message.find(kColumn); column != std::string_view::npos) {
        message.remove_prefix(message.find(": ", column) + 2);
    }
    return message;
}

}  // namespace

std::uint64_t integer_of(const Json& j) {
    if (j.is_number_unsigned()) return j.get<std::uint64_t>();
    if (j.is_string()) {
        const auto& text = j.get_ref<const std::string&>();
        std::uint64_t value = 0;
        const auto* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc{} && stop == end) return value;
    }
    throw Error(fmt::format("{} is not a whole number", dump_line(j)),
                "write a non-negative integer; one over 2^53 as a string of digits");
}

std::string dump_line(const Json& j) {
    return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(std::string_view text, std::string_view source) {
    constexpr auto kHint = "the document must be valid JSON in UTF-8";
    const auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
        if (depth > kDeepest) {
            throw Error(fmt::format("{}: nested over {} levels deep", source, kDeepest), kHint);
        }
        return true;
    };
    try {
        return Json::parse(text, limit_depth);
    } catch (const Json::parse_error& e) {
        throw Error(fmt::format("{}: byte {}: {}", source, e.byte, reason_of(e.what())), kHint);
    } catch (const Json::exception& e) {  // a number that no double holds
        throw Error(fmt::format("{}: {}", source, reason_of(e.what())), kHint);
    }
}

}  // namespace assay
