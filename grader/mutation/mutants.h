#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Mutants: a student's file with one operation changed. All of them are compiled at once and told
/// apart by a number when they run (mutant schemata).
namespace rooflab::mutation {

/// What is changed, in the order in which one explains better than another.
enum class MutantKind : std::uint8_t {
  comparison,  ///< `<=` for `<`, or turned around
  grid_step,   ///< `gridDim.x` times the step of a loop
  number,      ///< another number
  name,        ///< another variable, member or axis
  exchange,    ///< two names in each other's place
  trivial,     ///< 0, 1 or its negative for a number
  reset,       ///< a variable that begins anew in each turn of a loop
  argument,    ///< an operand behind a call that goes into it, or out of it
  arithmetic,  ///< another operator, or an operand left out
  update,      ///< `=` for `+=`
  bound,       ///< a bound that an access lacks
  scale,       ///< a factor, a divisor or a summand more, or a rest
  function,    ///< fminf for fmaxf
  condition,   ///< a condition that holds always, never, or the other way round
  conjunct,    ///< a part of a condition left out
  order,       ///< two statements in the other order
  left_out,    ///< a statement left out
};

struct Mutant {
  int number = 0;  ///< that chooses it
  MutantKind kind = MutantKind::comparison;
  std::uint32_t line = 0, column = 0;  ///< of what is changed; 1-based
  std::string before, after;           ///< as the source has it, and instead; untrusted
  /// `after` is not known yet: any value may be tried.
  bool is_any_value = false;
  /// Of one that divides: the variant in which what is divided is 0; 0: none. A quotient of whole
  /// numbers may be right for no other reason than that it is 0 everywhere.
  int vanished = 0;
};

/// Another comparison or another name: what is mistaken most often.
constexpr bool is_slip_of_the_pen(const Mutant& mutant) {
  return mutant.kind < MutantKind::number || mutant.kind == MutantKind::name ||
         mutant.kind == MutantKind::exchange;
}

/// A file with mutants; without a choice it does what it did.
struct MutableSource {
  std::string text;  ///< its lines are those of the original, behind one that includes a header
  std::vector<Mutant> mutants;
};

/// Makes mutants of all that functions do. What is not understood stays as it is; a file of more
/// than 20,000 tokens, or with brackets too deep in each other, has none.
/// @param text of one source file; untrusted
/// @param skip lines that are left alone, such as those that did not compile with mutants
MutableSource with_mutants(const std::string& text, const std::vector<std::uint32_t>& skip = {});

}  // namespace rooflab::mutation
