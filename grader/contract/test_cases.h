#pragma once

#include <cstddef>
#include <cstdint>

/// What the cases of a student's tests may be at most, in every task: what a guest hands on of them
/// then fits a reply (grader/guest/call_protocol.h).
namespace rooflab {

inline constexpr std::int64_t kMostTestCases = 50;  ///< each is a call of every implementation
/// Of all arrays of a case together. A guest hands an element on by eight characters.
inline constexpr std::int64_t kMostElementsOfCase = 32'768;
inline constexpr std::size_t kLongestCaseName = 60;  ///< in characters

}  // namespace rooflab
