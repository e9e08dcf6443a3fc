// Names of modules as quantisation lists write them. Matching takes time in proportion to name
// times pattern, whatever the pattern.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::model {

class NamePattern {
  public:
    // A regular expression that the name must begin with: groups, alternatives, classes, * + ?, ^
    // $. Throws UsageError for anything else, and for over 1,000 characters.
    static NamePattern expression(std::string_view text);
    // The name, or its last parts, whole.
    static NamePattern ending(std::string_view text);
    // Some parts of the name in a row, each whole: "self_attn", "model.layers.*.self_attn", where *
    // is any characters.
    static NamePattern parts(std::string_view text);

    bool matches(std::string_view name) const;

  private:
    // A step of the automaton: takes a character of `set`, or leads on without one.
    struct Step {
        enum class Kind { take, fork, begin, end, done } kind = Kind::done;
        std::size_t next = 0, other = 0;
        std::vector<bool> set = {};  // 256
    };
    class Compiler;
    bool holds_words(std::string_view name) const;
    // The steps that wait for the next character, and what finds them.
    struct Front {
        std::vector<std::size_t> waiting, open;
        std::vector<char> seen;
    };
    void enter(std::size_t step, bool at_begin, bool at_end, Front& front) const;

    // Lists name hundreds of modules in full: those are compared, not run through an automaton.
    std::string words_;
    bool to_the_end_ = false;  // nothing may follow them
    bool any_end_ = false;     // anything may, even within a part
    std::vector<Step> steps_;
    std::size_t start_ = 0;
};

}  // namespace assay::model
