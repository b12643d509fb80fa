#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "grader/contract/problem.h"

namespace rooflab {

/// Devices fill every output with this byte before a run. All ones is a NaN in each floating-point
/// type, and not the NaN that arithmetic produces on a GPU (0x7fffffff), so an element that still
/// holds it was never written. As int32 it reads -1, which a function may rightly store.
inline constexpr std::byte kPoisonByte{0xFF};

/// Element `index` of a tensor's bytes, widened. @pre (index + 1) * size_of(type) <= bytes.size()
double element_at(ElementType type, std::span<const std::byte> bytes, std::size_t index);

/// Whether an element is what it should be (Expected): the same, or within a tolerance. Zeros of
/// different signs are the same only where there is one, NaNs of the same bits where there is none.
/// An infinity is only itself.
bool is_within_tolerance(double got, double expected, double tolerance);

/// True when every byte of the element is kPoisonByte.
bool is_poisoned(ElementType type, std::span<const std::byte> bytes, std::size_t index);

/// Widens one 16-bit pattern: IEEE binary16, and the upper half of a binary32.
float float_from_half_bits(std::uint16_t bits);
float float_from_bfloat16_bits(std::uint16_t bits);

}  // namespace rooflab
