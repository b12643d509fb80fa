#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "grader/mutation/code_tokens.h"
#include "grader/mutation/edits.h"
#include "grader/mutation/expressions.h"
#include "grader/mutation/scopes.h"

namespace rooflab::mutation {

/// Adds bounds that accesses may lack: `row < rows` for `in[row * columns + column]`. A bound is
/// tried only where no condition around the access compares the index already, or where it is a
/// parameter that the function does not use.
class BoundMutator {
 public:
  BoundMutator(const Code& code, Edits& edits, MutantList& mutants, const Scopes& scopes)
      : code_(code), edits_(edits), mutants_(mutants), scopes_(scopes) {}

  /// What a function from `first` to before `last` compares with, multiplies and divides by; found
  /// once for each function.
  void note_extents(std::size_t first, std::size_t last);

  /// What a condition compares needs no other bound in what follows, until forget().
  void note_condition(std::size_t first, std::size_t last);
  std::size_t mark() const { return compared_.size(); }
  void forget(std::size_t mark) { compared_.resize(mark); }

  /// A statement that is left out beyond a bound.
  /// @return the condition for it, as it can follow another one: "&& ..."; empty for none
  std::string before_statement(std::size_t first, std::size_t end);
  /// A value that is 0 beyond a bound.
  void around_value(std::size_t first, std::size_t last);
  /// A condition that the bound of an access in its body is added to.
  void in_condition(std::size_t first, std::size_t last, std::size_t body, std::size_t end);
  /// A kernel that returns where the index that it has just declared is beyond a bound.
  void behind_declaration(std::size_t name, std::size_t end);

 private:
  /// `index < extent`, or `index >= 0`.
  struct Bound {
    std::string index, extent;
    bool is_lower = false;
    std::string holds() const, fails() const;
  };

  struct Index {
    std::string spelling;
    bool is_compared = false;  ///< by a condition around it
    bool operator==(const Index&) const = default;
  };

  std::vector<Index> indices(std::size_t first, std::size_t last) const;
  void indices_of(std::size_t first, std::size_t last, std::vector<Index>& found) const;
  Index index_at(std::size_t first, std::size_t last) const;
  bool is_plain(std::size_t first, std::size_t last) const;
  bool is_index(std::size_t token) const;
  bool may_be_negative(const std::string& index) const;
  std::vector<std::string> extents_at_hand() const;
  std::vector<Bound> bounds_of(const std::vector<Index>& indices) const;
  /// Gives them numbers. @param words of what is done, with {} for what holds or fails
  /// @return a call that tells whether the bound that is chosen holds
  std::string add(const std::vector<Bound>& bounds, std::size_t place, const std::string& before,
                  const std::string& words, bool says_what_fails = false);

  const Code& code_;
  Edits& edits_;
  MutantList& mutants_;
  const Scopes& scopes_;
  std::vector<std::string> extents_;   ///< of the function, the likeliest first, constants last
  std::set<std::string> limits_;       ///< of them those that indices are compared with
  std::set<std::string> unused_;       ///< of its parameters, whole numbers that it does not name
  std::vector<std::string> compared_;  ///< by conditions around, as they are spelled
  std::set<std::string> differences_;  ///< names that are declared with a difference
};

}  // namespace rooflab::mutation
