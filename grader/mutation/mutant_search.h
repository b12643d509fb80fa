#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/device/device.h"
#include "grader/mutation/mutants.h"

/// Which mutants of a wrong file are right.
namespace rooflab::mutation {

/// What came of a call.
struct Tried {
  bool is_sound = false;     ///< it returned, and nothing was found in it
  std::string failure = {};  ///< code of what was found otherwise
  std::uint64_t wrong = 0;   ///< elements or results, of a sound one
  /// How far off a certain one of them is, in its tolerance, with its sign: the same one in all
  /// calls of a problem.
  double error = 0;
  std::uint64_t most_blocks = 0;  ///< of a launch; 0 without any
  double work = 0;                ///< in warp instructions

  bool is_right() const { return is_sound && wrong == 0; }
  /// It was cut off, and nobody knows what would have come of it.
  bool took_too_long() const { return failure == "RL0319"; }
};

/// A call that is wanted.
struct Trial {
  Values parameters;
  int draw = 0;  ///< of the inputs
  Variant variant = {};
};

struct SearchTools {
  /// Parameters of problems of which one may be wrong, the smallest first.
  std::vector<Values> candidates;
  /// Parameters of problems that are a little smaller. May be empty.
  std::function<std::vector<Values>(const Values&)> smaller;
  /// Parameters of all cases that have to be right.
  std::vector<Values> cases;
  /// Of other cases, of which as many as possible should be right.
  std::vector<Values> others;
  /// Makes these calls, one after the other; asking for many at once is far cheaper than for each.
  /// Fewer results where there was no time for all.
  std::function<std::vector<Tried>(const std::vector<Trial>&)> call;
  /// Warp instructions of all calls together.
  double most_work = 0;
  /// Of an access: how many steps a line is away from it (LinesOfSlice::related). May be empty.
  std::map<std::uint32_t, unsigned> steps_to;
  /// Values of constants of the file, by name.
  std::function<double(const std::string& name)> value_of;
};

/// Mutants that make everything right.
struct RightMutant {
  std::vector<Mutant> mutants;    ///< one, or two at once
  double value = 0;               ///< of one that takes any
  bool vanishes = false;          ///< as right is the variant in which what it divides is 0
  bool leaves_one_block = false;  ///< of launches that have several without it
  /// Blocks than without it: those may do what others leave out.
  bool launches_more = false;
  std::size_t held = 0;        ///< cases that it was tried on, and is right in
  bool breaks_others = false;  ///< cases of other groups that are right without it
};

struct SearchResult {
  std::vector<RightMutant> right;  ///< those that explain best come first
  std::size_t tried = 0;           ///< on the smallest problem
  Values parameters;               ///< of that problem
  bool was_sound = false;          ///< the file itself was, there, and its results were wrong
  bool was_cut_short = false;      ///< there was no time for all single mutants
};

/// Tries single mutants, then other values of numbers, then two at once: the same change at two
/// places close together, or one that leaves less wrong with each other one. A mutant is right if
/// it is with two draws of a small problem and in all cases.
SearchResult find_right_mutants(const std::vector<Mutant>& mutants, const SearchTools& tools);

}  // namespace rooflab::mutation
