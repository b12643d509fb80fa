#pragma once

#include <cstdint>
#include <vector>

#include "grader/diagnose/diagnose.h"
#include "grader/reactions/parameter_domain.h"
#include "grader/reactions/term_search.h"

/// How the named numbers that a function returns react to its parameters, beside the oracle's.
namespace rooflab {

/// Parameters with which a function is called to see how its numbers react.
struct TermPoint {
  Values parameters;
  bool proves = false;  ///< TermSample::proves
};

/// The parameters of a case, then others of its kind: those of other cases, and with one number
/// changed, with most changed, and with one that is a multiple of another. At the end those of the
/// case again. At most some fifty; none where nothing may change.
/// @param cases parameters of the task's public cases
/// @param seed of those from which a law is found; those that prove it are drawn by another one
std::vector<TermPoint> points_around(const Values& parameters, const std::vector<Values>& cases,
                                     std::uint64_t seed);

/// Right results, asked for only where no number is far beyond those of its name in the cases,
/// below zero where none is, or zero: an oracle may count up to it, or divide by it.
RightResults within_reason(RightResults right, const std::vector<Values>& cases);

/// What a law says of wrong results.
/// @param story what is told without it, of the same case
/// @param samples those that the law holds in, the case itself first
Diagnostic explain_law(const Law& law, const Diagnostic& story,
                       const std::vector<TermSample>& samples, const DiagnoseContext& context);

}  // namespace rooflab
