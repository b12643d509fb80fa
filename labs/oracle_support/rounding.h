#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/contract/problem.h"

/// How far correct floating-point results may be off, from the types that they are computed and
/// stored in.
namespace rooflab {

inline constexpr double kFloat32Unit = 0x1p-24;  ///< half an ulp at 1: round to nearest

/// The distance of the type's neighbouring values at `value`, at least that of its subnormal ones,
/// which zero and what is no finite number have too: an infinity is met by itself alone.
/// @throws std::invalid_argument for another type than float32, float16 and bfloat16
double ulp(ElementType type, double value);

/// Half of ulp(): what storing `value` may change it by.
double half_ulp(ElementType type, double value);

/// `value` rounded to the type, to nearest, ties to even: the infinity where it is beyond the
/// type's largest number. @pre type is float32, float16 or bfloat16
double rounded(ElementType type, double value);

/// Rounds a value that is known within `error`, which becomes what is uncertain afterwards:
/// nothing, or half the distance of both candidates when the value is too close to a tie to tell.
void round_within_error(ElementType type, double& value, double& error);

/// How far a sum of `count` terms may be from its exact value, when they are added in any order and
/// each step rounds with relative error `unit`:
///
///     8 sqrt(count) unit magnitude
///
/// By Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis" (2019), it stays
/// within lambda sqrt(count) unit sum |term| with a probability of at least
/// 1 - 2 count exp(-lambda^2 / 2).
/// @param magnitude sum |term| or a bound of it: for terms a_i b_i that is |a| |b|, the product of
///                  the Euclidean norms (Cauchy and Schwarz)
double sum_tolerance(std::int64_t count, double unit, double magnitude);

/// Exact values, and for each how far correct fp32 arithmetic may be off before it is stored.
struct Computed {
  std::vector<double> value;
  std::vector<double> error;
};

/// What a tensor of the type must hold: each value, within its error and one rounding.
Expected stored(const std::string& tensor, ElementType type, Computed computed);

}  // namespace rooflab
