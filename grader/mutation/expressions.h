#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/mutation/code_tokens.h"
#include "grader/mutation/edits.h"
#include "grader/mutation/mutants.h"
#include "grader/mutation/scopes.h"

namespace rooflab::mutation {

/// Gives mutants their numbers.
class MutantList {
 public:
  static constexpr std::size_t kMostOfAPlace = 15;

  explicit MutantList(const Code& code) : code_(code) {}

  /// Numbers of one place: those behind the next multiple of 16, of which it has at most
  /// kMostOfAPlace.
  /// @return the first of them, which the next mutant gets
  int begin_place();
  int places() const { return next_ / kOfAPlace + 1; }
  /// @param place the token that is changed
  /// @return its number
  int add(MutantKind kind, std::size_t place, std::string before, std::string after);
  /// The only one of its place.
  int add_alone(MutantKind kind, std::size_t place, std::string before, std::string after);
  void add_any_value(std::size_t place, std::string before);
  /// The last one that was added divides: the last number of its place stands for 0.
  void note_division();
  std::vector<Mutant> take() { return std::move(mutants_); }

 private:
  static constexpr int kOfAPlace = kMostOfAPlace + 1;
  const Code& code_;
  std::vector<Mutant> mutants_;
  int next_ = 0;
};

/// Changes operators, numbers and names of expressions.
class ExpressionMutator {
 public:
  ExpressionMutator(const Code& code, Edits& edits, MutantList& mutants, const Scopes& scopes)
      : code_(code),
        edits_(edits),
        mutants_(mutants),
        scopes_(scopes),
        changing_functions_(changing_functions(code)) {}

  /// Of the tokens from `first` to before `last`.
  void mutate(std::size_t first, std::size_t last);
  /// What is spelled there, or "the value" where that is long.
  std::string named(std::size_t first, std::size_t last) const;
  /// A result may want a factor or a divisor that is at hand.
  /// @param is_whole a number of steps or elements, which a constant of the file may scale
  void mutate_scale(std::size_t first, std::size_t last, bool is_whole = false);
  /// Likewise the names that a sum of whole numbers adds.
  void mutate_scale_of_operands(std::size_t first, std::size_t last);
  /// A summand more, or a rest, of a whole number.
  void mutate_shift(std::size_t first, std::size_t last);
  /// The first two arguments of a call whose bracket opens there, in each other's place.
  void exchange_arguments(std::size_t open);
  /// Parts of a condition that && joins may be left out; it may stand before a ?.
  void mutate_conjuncts(std::size_t first, std::size_t last);
  /// Members and constants that the function uses, found once for each function.
  void note_members(std::size_t first, std::size_t last);
  /// Likewise, factors that are no mere names.
  void note_factors(std::size_t first, std::size_t last);

  /// Behind the > that closes template arguments which begin at a <; nothing found: `begin`.
  std::size_t behind_template_arguments(std::size_t begin) const;

 private:
  std::size_t mutate_at(std::size_t index, std::size_t first, std::size_t last);
  bool is_subscript(std::size_t index) const;
  void note_whole_factors(std::size_t first, std::size_t last);
  std::size_t behind_lambda(std::size_t index) const;
  std::size_t word(std::size_t index, std::size_t last);
  std::size_t axis(std::size_t index);
  std::size_t member(std::size_t index, std::size_t last);
  bool function_name(std::size_t index);
  void name(std::size_t index, std::size_t first, std::size_t last);
  void group(std::size_t index, std::size_t last);
  void number(std::size_t index);
  void sign(std::size_t index, std::size_t first);
  bool is_binary(std::size_t index, std::size_t first) const;
  bool is_changed(std::size_t index, std::size_t behind) const;
  bool passes_by_value(std::size_t index, std::size_t first, std::size_t behind) const;
  static std::set<std::string> changing_functions(const Code& code);
  void exchanges(std::size_t first, std::size_t last);
  void move_operands(std::size_t first, std::size_t last);
  void move_in(std::size_t function, std::size_t last);
  void move_out(std::size_t function);
  std::size_t simple_operand(std::size_t first, std::size_t last) const;
  /// What a sum adds: the tokens from `first` to before `behind`, and the factor sign next to the
  /// sum's own, which stands for none.
  struct Operand {
    std::size_t first = 0, behind = 0, sign = 0;
  };
  void regroup_sums(std::size_t first, std::size_t last);
  Operand operand_before(std::size_t sum, std::size_t first) const;
  Operand operand_behind(std::size_t sum, std::size_t last) const;
  void widen_right(const Operand& left, const Operand& right);
  void widen_left(const Operand& left, const Operand& right);
  void move_factor(const Operand& left, const Operand& right);
  /// A name, or a member of an object, with the tokens that it takes.
  struct ReadName {
    std::size_t first = 0, last = 0;
    std::string spelling, type;
  };
  std::vector<ReadName> names_read(std::size_t first, std::size_t last) const;
  void exchange_everywhere(std::size_t first, std::size_t last);
  void pick(MutantKind kind, std::size_t first, std::size_t last,
            const std::vector<std::string>& others);

  /// Edits::wrap(), when all that lies inside is wrapped.
  void wrap_later(std::size_t first, std::size_t last, std::string before, std::string behind) {
    wraps_.push_back({first, last, std::move(before), std::move(behind)});
  }
  void wrap_all();

  struct Member {
    std::string object, name;
  };
  struct Wrap {
    std::size_t first, last;
    std::string before, behind;
  };
  const Code& code_;
  Edits& edits_;
  MutantList& mutants_;
  const Scopes& scopes_;
  const std::set<std::string> changing_functions_;
  std::vector<Member> members_;
  std::vector<std::string> constants_;
  std::vector<std::string> factors_;        ///< such as kWidth<T>, of products in the function
  std::vector<std::string> whole_factors_;  ///< numbers, of its products and quotients
  std::vector<Wrap> wraps_;                 ///< see wrap_later()
  int braces_ = 0;                          ///< whose initialisers must not narrow
};

}  // namespace rooflab::mutation
