#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simgpu/source/tokens.h"

namespace simgpu::replay {

/// What a line of the source does to variables.
struct LineEffects {
  /// The one variable that gets, on this line, the value that the line's last instruction of its
  /// type computes; nothing where that is not certain.
  std::optional<std::string> assigned{};
  std::string type{};  ///< of it, as plain_type() gives it
  /// Of an integer: what it gets. Instructions that a compiler adds, for a loop or an address, are
  /// of the same type and may be on the line, so that the value has to be that of the expression.
  std::vector<Token> expression{};
  bool is_set_once = false;  ///< the line declares it, outside of loops
  /// Loads of the statement, where a compiler that unrolls the loop around it would make more;
  /// nothing where it does not matter.
  std::optional<std::size_t> loads{};
  std::set<std::string> changed{};  ///< that may have another value behind the line
};

/// What the lines of a file do to the variables of functions, as far as its tokens tell. What a
/// compiler may compute for lanes that do not execute a statement, in another order, or on other
/// lines, counts as unknown.
class Assignments {
 public:
  explicit Assignments(SourceTokens source);

  LineEffects of_line(std::uint32_t line) const;
  /// Variables that tokens [first, end) may give another value.
  std::set<std::string> changed_by(std::size_t first, std::size_t end) const {
    return changed_by(Range{first, end});
  }
  const std::vector<Token>& tokens() const { return source_.tokens; }

 private:
  /// Where a statement is: in which function, and what is around it there.
  struct Context {
    std::size_t function_first = 0, function_end = 0;  ///< tokens; the same: in none
    bool is_conditional = false;                       ///< in an `if`, an `else` or a `switch`
    std::size_t loop_first = 0, loop_end = 0;          ///< the innermost loop's body
    bool is_in_loop() const { return loop_first != loop_end; }
  };
  using Range = std::pair<std::size_t, std::size_t>;  ///< of tokens: first, end

  Range tokens_of_line(std::uint32_t line) const;
  Context context_at(std::size_t token) const;
  bool may_take_reference(std::size_t token) const;
  std::set<std::string> changed_by(Range tokens) const;
  void read_statement(Range statement, LineEffects& effects) const;
  bool is_plain(Range expression) const;
  std::string declared_type(const std::string& name, const Context& context) const;
  bool leaves_early(const Context& context) const;
  bool is_assignment(std::size_t token) const;
  std::size_t closing(std::size_t open) const;

  SourceTokens source_;
};

}  // namespace simgpu::replay
