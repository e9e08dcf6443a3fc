#include "record/case.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::record {

namespace {

bool is_plain(char c) {
    const auto code = static_cast<unsigned char>(c);
    return code > ' ' && code != 0x7f && c != '"' && c != '\\' && c != '=';
}

// A word as it is, or in quotes with escapes, so that the text form splits in one way only and
// stays on one line.
std::string in_quotes(std::string_view word) {
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
    std::string text = "\"";
    for (const char c : word) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text += '\\';
            text += c;
        } else if (code < ' ' || code == 0x7f) {
            text += fmt::format("\\x{:02x}", code);
        } else {
            text += c;
        }
    }
    return text + '"';
}

auto find(auto& pairs, std::string_view name) {
    return std::find_if(pairs.begin(), pairs.end(),
                        [&](const Case::Pair& pair) { return pair.name == name; });
}

template <typename Parse>
auto parsed(const Case& what, std::string_view name, Parse parse) {
    const std::string& value = what.at(name);
    try {
        return parse(value);
    } catch (const Error& error) {
        throw Error(fmt::format("case {}={}: {}", name, in_quotes(value), error.what()),
                    error.hint());
    }
}

}  // namespace

std::string Case::Pair::text() const {
    return in_quotes(name) + '=' + in_quotes(value);
}

Case& Case::set(std::string name, std::string value,
                std::optional<std::string_view> default_value) {
    const bool is_default = default_value == value;
    const auto found = find(pairs_, name);
    if (found == pairs_.end()) {
        pairs_.push_back({std::move(name), std::move(value), is_default});
    } else {
        found->value = std::move(value);
        found->is_default = is_default;
    }
    return *this;
}

Case& Case::set(std::string name, std::int64_t value) {
    return set(std::move(name), std::to_string(value));
}

bool Case::has(std::string_view name) const {
    return find(pairs_, name) != pairs_.end();
}

const std::string& Case::at(std::string_view name) const {
    const auto found = find(pairs_, name);
    if (found == pairs_.end()) {
        throw Error(fmt::format("the case \"{}\" has no \"{}\"", text(), name));
    }
    return found->value;
}

std::int64_t Case::integer(std::string_view name) const {
    return parsed(*this, name,
                  [&](const std::string& value) { return parse_integer(value, name); });
}

std::uint64_t Case::size(std::string_view name) const {
    return parsed(*this, name, parse_size);
}

std::string Case::text() const {
    std::vector<std::string> words;
    for (const Pair& pair : pairs_) {
        if (!pair.is_default) words.push_back(pair.text());
    }
    return join(words, " ");
}

}  // namespace assay::record
