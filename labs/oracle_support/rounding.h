#pragma once

#include <cstdint>

#include "grader/contract/problem.h"

/// How far correct floating-point results may be off.
namespace rooflab {

inline constexpr double kFloat32Unit = 0x1p-24;  ///< half an ulp at 1: round to nearest

/// The distance of the type's neighbouring values at `value`, at least that of its subnormal ones,
/// which zero and what is no finite number have too: an infinity is met by itself alone.
/// @throws std::invalid_argument for another type than float32 and bfloat16
double ulp(ElementType type, double value);

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

}  // namespace rooflab
