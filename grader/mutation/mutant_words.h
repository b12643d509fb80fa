#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grader/mutation/mutant_search.h"

namespace rooflab::mutation {

/// What a search has found, in words for the student.
struct OperationWords {
  std::string message;
  std::vector<std::string> evidence;
  std::string help;
  std::uint32_t line = 0, column = 0;  ///< of the operation
  std::string label;                   ///< what stands under it
};

/// Of the mutants that are right, those that explain best. Nothing where they lie in so many places
/// that none of them is the cause.
/// Slips of the pen come first, and of them and of others what is close to an access.
/// @param steps_to of an access: how far a line is from it (LinesOfSlice::related)
std::vector<RightMutant> best_of(const SearchResult& result,
                                 const std::map<std::uint32_t, unsigned>& steps_to = {});
/// @param cases how many cases were tried
OperationWords words_of(const SearchResult& result, const std::vector<RightMutant>& best,
                        std::size_t cases);

}  // namespace rooflab::mutation
