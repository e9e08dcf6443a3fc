#include "model/name_pattern.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::model {
namespace {

constexpr std::size_t kLongest = 1000;
constexpr int kDeepest = 50;

std::vector<bool> no_characters() {
    return std::vector<bool>(256, false);
}
std::vector<bool> all_characters() {
    return std::vector<bool>(256, true);
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '*') {
            out += ".*";
        } else {
            if (std::isalnum(static_cast<unsigned char>(c)) == 0) out += '\\';
            out += c;
        }
    }
    return out;
}

}  // namespace

// Thompson's construction, from the end backwards: each piece is compiled knowing what follows it.
class NamePattern::Compiler {
  public:
    Compiler(std::string_view text, std::vector<Step>& steps) : text_(text), steps_(steps) {}

    std::size_t compile() {
        if (text_.size() > kLongest) fail("is over 1,000 characters long");
        const auto tree = alternatives(0);
        if (at_ != text_.size()) fail("has a ) too many");
        return emit(tree, add({}));
    }

  private:
    struct Piece {
        enum class Kind { set, begin, end, sequence, choice } kind = Kind::sequence;
        std::vector<bool> set = {};
        std::vector<Piece> parts = {};
        bool optional = false, repeated = false;
    };

    [[noreturn]] void fail(std::string_view reason) const {
        throw UsageError(
            fmt::format("the pattern \"{:.80}\" {}", text_, reason),
            "patterns of a quantisation list may have groups, |, [..], * + ? . ^ $ and escapes");
    }

    bool more() const { return at_ < text_.size(); }
    bool take(char c) {
        if (!more() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    Piece alternatives(int depth) {
        if (depth > kDeepest) fail("is nested too deep");
        Piece choice{.kind = Piece::Kind::choice};
        do {
            Piece sequence;
            while (more() && text_[at_] != '|' && text_[at_] != ')') {
                sequence.parts.push_back(repeated(depth));
            }
            choice.parts.push_back(std::move(sequence));
        } while (take('|'));
        return choice;
    }

    Piece repeated(int depth) {
        auto piece = single(depth);
        bool again = true;
        while (again) {  // "*?" is as "*" where only a match's existence counts
            again = false;
            if (take('*')) {
                piece.optional = piece.repeated = again = true;
            } else if (take('+')) {
                piece.repeated = again = true;
            } else if (take('?')) {
                piece.optional = again = true;
            }
        }
        if (more() && text_[at_] == '{') fail("counts repetitions, which isn't read");
        return piece;
    }

    Piece single(int depth) {
        const char c = text_[at_++];
        Piece piece{.kind = Piece::Kind::set, .set = no_characters()};
        switch (c) {
            case '(': {
                if (take('?') && !take(':')) fail("has a group of a kind that isn't read");
                auto group = alternatives(depth + 1);
                if (!take(')')) fail("lacks a )");
                return group;
            }
            case '[':
                piece.set = bracket();
                return piece;
            case '.':
                piece.set = all_characters();
                return piece;
            case '^':
                return {.kind = Piece::Kind::begin};
            case '$':
                return {.kind = Piece::Kind::end};
            case '\\':
                escape(piece.set);
                return piece;
            case '*':
            case '+':
            case '?':
            case '{':
                fail("repeats nothing");
            default:
                put(piece.set, c);
                return piece;
        }
    }

    static void put(std::vector<bool>& set, char c) { set[static_cast<unsigned char>(c)] = true; }

    void escape(std::vector<bool>& set) {
        if (!more()) fail("ends in \\");
        const char c = text_[at_++];
        if (c != 'd' && c != 'w' && std::isalnum(static_cast<unsigned char>(c)) != 0) {
            fail(fmt::format("has \\{}, which isn't read", c));
        }
        if (c != 'd' && c != 'w') return put(set, c);
        for (int i = 0; i < 256; ++i) {
            if (std::isdigit(i) != 0 || (c == 'w' && (std::isalpha(i) != 0 || i == '_'))) {
                set[static_cast<std::size_t>(i)] = true;
            }
        }
    }

    std::vector<bool> bracket() {
        auto set = no_characters();
        const bool inverted = take('^');
        while (more() && text_[at_] != ']') {
            const char first = text_[at_++];
            if (first == '\\') {
                escape(set);
            } else if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
                const char last = text_[at_ + 1];
                at_ += 2;
                for (int c = static_cast<unsigned char>(first);
                     c <= static_cast<unsigned char>(last); ++c) {
                    set[static_cast<std::size_t>(c)] = true;
                }
            } else {
                put(set, first);
            }
        }
        if (!take(']')) fail("lacks a ]");
        if (inverted) set.flip();
        return set;
    }

    std::size_t add(Step step) {
        steps_.push_back(std::move(step));
        return steps_.size() - 1;
    }

    std::size_t emit_once(const Piece& piece, std::size_t next) {
        switch (piece.kind) {
            case Piece::Kind::set:
                return add({.kind = Step::Kind::take, .next = next, .set = piece.set});
            case Piece::Kind::begin:
                return add({.kind = Step::Kind::begin, .next = next});
            case Piece::Kind::end:
                return add({.kind = Step::Kind::end, .next = next});
            case Piece::Kind::sequence:
                for (auto part = piece.parts.rbegin(); part != piece.parts.rend(); ++part) {
                    next = emit(*part, next);
                }
                return next;
            case Piece::Kind::choice:
                break;
        }
        auto start = emit(piece.parts.back(), next);
        for (std::size_t i = piece.parts.size() - 1; i-- > 0;) {
            const auto other = emit(piece.parts[i], next);
            start = add({.kind = Step::Kind::fork, .next = start, .other = other});
        }
        return start;
    }

    std::size_t emit(const Piece& piece, std::size_t next) {
        std::size_t start = next;
        if (piece.repeated) {
            const auto loop = add({.kind = Step::Kind::fork, .next = next});
            start = emit_once(piece, loop);
            steps_[loop].other = start;
        } else {
            start = emit_once(piece, next);
        }
        if (!piece.optional) return start;
        return add({.kind = Step::Kind::fork, .next = start, .other = next});
    }

    std::string_view text_;
    std::vector<Step>& steps_;
    std::size_t at_ = 0;
};

NamePattern NamePattern::expression(std::string_view text) {
    NamePattern pattern;
    pattern.start_ = Compiler(text, pattern.steps_).compile();
    return pattern;
}

NamePattern NamePattern::ending(std::string_view text) {
    NamePattern pattern;
    pattern.words_ = text;
    pattern.to_the_end_ = true;
    return pattern;
}

NamePattern NamePattern::parts(std::string_view text) {
    const auto whole = text;
    NamePattern pattern;
    // A * at either end needs no automaton.
    if (text.starts_with("*.")) text.remove_prefix(2);
    if (text.ends_with("*")) {
        pattern.any_end_ = true;
        text.remove_suffix(1);
    }
    if (text.find('*') != std::string_view::npos) {
        return expression("(.*\\.)?" + escaped(whole) + "(\\..*)?$");
    }
    pattern.words_ = text;
    return pattern;
}

bool NamePattern::holds_words(std::string_view name) const {
    for (auto at = name.find(words_); at != std::string_view::npos;
         at = name.find(words_, at + 1)) {
        const auto end = at + words_.size();
        const bool begins = at == 0 || name[at - 1] == '.';
        const bool ends = end == name.size() || any_end_ || (!to_the_end_ && name[end] == '.');
        if (begins && ends) return true;
    }
    return false;
}

// Adds every step that `step` leads to without a character.
void NamePattern::enter(std::size_t step, bool at_begin, bool at_end, Front& front) const {
    front.open.push_back(step);
    while (!front.open.empty()) {
        const auto current = front.open.back();
        front.open.pop_back();
        if (front.seen[current] != 0) continue;
        front.seen[current] = 1;
        const auto& s = steps_[current];
        using Kind = Step::Kind;
        if (s.kind == Kind::take || s.kind == Kind::done) front.waiting.push_back(current);
        if (s.kind == Kind::fork) {
            front.open.push_back(s.next);
            front.open.push_back(s.other);
        }
        if ((s.kind == Kind::begin && at_begin) || (s.kind == Kind::end && at_end)) {
            front.open.push_back(s.next);
        }
    }
}

bool NamePattern::matches(std::string_view name) const {
    if (steps_.empty()) return holds_words(name);
    std::vector<std::size_t> now;
    Front front{.waiting = {}, .open = {}, .seen = std::vector<char>(steps_.size(), 0)};
    enter(start_, true, name.empty(), front);
    for (std::size_t at = 0; !front.waiting.empty(); ++at) {
        now.swap(front.waiting);
        front.waiting.clear();
        std::ranges::fill(front.seen, 0);
        for (const auto step : now) {
            const auto& s = steps_[step];
            if (s.kind == Step::Kind::done) return true;
            if (at < name.size() && s.set[static_cast<unsigned char>(name[at])]) {
                enter(s.next, false, at + 1 == name.size(), front);
            }
        }
    }
    return false;
}

}  // namespace assay::model
