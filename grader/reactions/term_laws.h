#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "grader/reactions/term_search.h"
#include "grader/reactions/term_table.h"

/// The kinds of laws. Each says one thing of one wrong result, or nothing.
namespace rooflab {

/// A result times or divided by parameters, or in another unit.
std::optional<Law> factor_law(const TermTable& table, std::size_t result);

/// A summand too few or too many, or another one in its place.
std::optional<Law> summand_law(const TermTable& table, std::size_t result);
std::optional<Law> replaced_summand_law(const TermTable& table, std::size_t result);

/// The oracle's results of other parameters: one left out, or one more or less of it.
/// @param results all of which have to be so
std::optional<Law> left_out_law(const TermTable& table, const std::vector<std::size_t>& results,
                                const RightResults& right);
/// Likewise two exchanged, one in another's place, or a constant. Where a term in another's place
/// explains as much, that says less of the code and is as true.
std::optional<Law> exchanged_law(const TermTable& table, const std::vector<std::size_t>& results,
                                 const RightResults& right);

/// What does not fit into the type that it is computed in.
std::optional<Law> narrow_type_law(const TermTable& table, std::size_t result);

/// A quotient that is cut to a whole number where it should not be.
std::optional<Law> rounding_law(const TermTable& table, std::size_t result);

/// Another result, or two of them put together in another way.
std::optional<Law> composition_law(const TermTable& table, std::size_t result);

/// The larger of two terms where the smaller is due, and the like.
std::optional<Law> choice_law(const TermTable& table, std::size_t result);

/// A parameter on which a result does not depend, or should not.
std::optional<Law> dependence_law(const TermTable& table, std::size_t result);

}  // namespace rooflab
