#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "grader/mutation/statements.h"

/// Loops: their headers, and what begins anew in their turns.
namespace rooflab::mutation {

std::size_t StatementMutator::loop(std::size_t first, std::size_t last) {
  const std::size_t open = first + 1;
  if (!code_.is(open, "(")) return end_of_statement(first, last) + 1;
  const std::size_t body = code_.partner(open) + 1;
  reset_in_turns(first, body);
  const std::size_t compared = bounds_.mark();
  scopes_.open();
  loop_header(open);
  const std::size_t behind = statement(body, last).behind;
  scopes_.close();
  bounds_.forget(compared);
  return behind;
}

/// What variables of the function begin with they may have to begin with in each turn of a loop
/// around another loop, which adds up what the turn needs.
void StatementMutator::reset_in_turns(std::size_t keyword, std::size_t body) {
  if (!code_.is(body, "{") || is_left_alone(keyword, body + 1)) return;
  constexpr std::size_t kMost = 6;
  const std::size_t end = code_.partner(body);
  bool has_loop = false;
  for (std::size_t i = body; i < end; ++i) has_loop = has_loop || code_.is(i, "for");
  if (!has_loop) return;
  std::size_t resets = 0;
  for (const Variable& variable : scopes_.all()) {
    bool is_used = false;
    for (std::size_t i = body; i < end && !is_used; ++i) {
      is_used = code_.is(i, variable.name) && !code_.is(i - 1, ".");
    }
    const bool is_hidden = scopes_.find(variable.name) != &variable;
    if (variable.initial.empty() || !is_used || is_hidden || resets == kMost) continue;
    ++resets;
    const int number =
        mutants_.add_alone(MutantKind::reset, keyword, variable.name, variable.initial);
    const bool is_number = variable.initial.front() != '{';
    edits_.put_behind(
        body, is_number ? fmt::format(" rooflab_variants::reset({}, {}, {});", number,
                                      variable.name, variable.initial)
                        : fmt::format(" rooflab_variants::renew({}, {});", number, variable.name));
  }
}

void StatementMutator::loop_header(std::size_t open) {
  const std::size_t close = code_.partner(open);
  const std::size_t start = end_of_statement(open + 1, close);
  if (start >= close || is_left_alone(open, close)) return;  // over a range
  const std::size_t condition = end_of_statement(start + 1, close);
  bounds_.note_condition(start + 1, condition);
  if (!declaration(open + 1, start)) expressions_.mutate(open + 1, start);
  expressions_.mutate(start + 1, condition);
  expressions_.mutate_conjuncts(start + 1, condition);
  if (condition >= close) return;
  expressions_.mutate(condition + 1, close);
  const std::size_t step = condition + 3;
  if (!code_.is(condition + 2, "+=") || step >= close || code_.is(step + 1, ",")) return;
  const std::string written = code_.spelling(step, close);
  const int number = mutants_.add_alone(MutantKind::grid_step, step, written, "* gridDim.x");
  edits_.wrap(step, close - 1, fmt::format("rooflab_variants::of_grid({}, ", number), ")");
}

}  // namespace rooflab::mutation
