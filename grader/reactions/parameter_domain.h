#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/contract/problem.h"

namespace rooflab {

/// Which parameters a task's function may be called with, as far as the task's own cases tell: a
/// problem that no author wrote down should be one that the author could have written.
///
/// Parameters are of one *kind* when they have the same names, types and texts, and the same zeros:
/// a zero turns something off. Within a kind a number lies between the smallest and the largest of
/// that name in any case, is a multiple of what all of these are multiples of, and keeps the
/// relations that hold wherever two names occur together: x >= y, x a multiple of y, x in a fixed
/// proportion to y. A number that is the same in all cases stays as it is.
class ParameterDomain {
 public:
  /// Numbers that can only change together, such as two that are always equal; mostly one.
  using Unit = std::vector<std::string>;

  /// @param cases parameters of the task's cases; hidden ones would show in what is allowed
  explicit ParameterDomain(std::vector<Values> cases);

  /// Whether a case could have these parameters: they are of the kind of one, and break no rule.
  bool allows(const Values& parameters) const;

  /// The cases of the same kind.
  std::vector<Values> of_kind(const Values& parameters) const;

  /// What may change while texts and zeros stay, in the order of names. Empty for parameters of no
  /// kind.
  std::vector<Unit> changeable(const Values& parameters) const;

  /// Allowed parameters that differ in this unit alone: at most `most` of them, drawn by `seed`.
  std::vector<Values> with_other(const Values& parameters, const Unit& unit, std::size_t most,
                                 std::uint64_t seed) const;

  /// Allowed parameters that differ in most numbers, drawn by `seed`: at most `most`.
  std::vector<Values> elsewhere(const Values& parameters, std::size_t most,
                                std::uint64_t seed) const;

  /// Allowed parameters with one unit of whole numbers smaller: the least that it may be, about
  /// half and three quarters of what it is, and the next one below it.
  std::vector<Values> smaller(const Values& parameters) const;

  /// The parameters with each whole number, one after the other, at the least that it may be.
  Values smallest(const Values& parameters) const;

 private:
  struct Rules;
  Rules rules_for(const Values& parameters) const;
  std::vector<Values> others(const Rules& rules, const Values& parameters, const Unit& unit,
                             std::uint64_t seed) const;

  std::vector<Values> cases_;
};

}  // namespace rooflab
