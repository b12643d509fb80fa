#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"

/// Causes of named results that are wrong: numbers that a known slip makes, and totals with a
/// summand too few or too many.
namespace rooflab {

/// Numbers by name, as a function of the student's should return them.
using NamedNumbers = std::map<std::string, double>;

/// The result of that name as a number; NaN where it is missing or a text.
double number_of(const Values& results, const std::string& name);

/// The first result that is not what it should be.
/// @param scale of numbers that are differences of larger ones: what rounding leaves of those
/// counts
///        as zero
std::optional<std::string> first_difference(const Values& got, const Values& right,
                                            double scale = 0);

/// What a known slip makes of results: of those that it names, and of no others.
struct ResultSlip {
  Values results;
  Code code;
  Sentence cause;
  const char* advice;
};

/// The first slip that makes all of what was returned.
/// @param right what should have been returned, for the evidence
/// @param scale as of first_difference
std::optional<Complaint> explained_by_slips(const Values& got, const Values& right,
                                            const std::vector<ResultSlip>& slips, double scale = 0);

/// A summand of totals: what it adds to each of them. Totals that it leaves alone need no number.
struct Term {
  Sentence name;  ///< "the norm over each query head"
  NamedNumbers adds;
};

/// The term that is missing from all totals, or is in them twice; or the two that are missing.
/// Terms that add the same cannot be told apart, and are named together.
/// @param tolerance of a total, relative
std::optional<Complaint> explained_by_terms(const Values& got, const Values& right,
                                            const std::vector<Term>& terms,
                                            double tolerance = 1e-9);

}  // namespace rooflab
