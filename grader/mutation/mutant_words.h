#pragma once

#include <cstdint>
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
/// @param line of what was found: one that is right there comes first; 0: there is none
std::vector<RightMutant> best_of(const SearchResult& result, std::uint32_t line = 0);
/// @param cases how many cases were tried
OperationWords words_of(const SearchResult& result, const std::vector<RightMutant>& best,
                        std::size_t cases);

}  // namespace rooflab::mutation
