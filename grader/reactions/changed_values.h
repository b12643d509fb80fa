#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "grader/contract/problem.h"

/// Inputs with other values: of a problem that a function has got wrong, to see what its outputs
/// say then.
namespace rooflab {

/// Whether the elements are numbers with a fraction, which may be changed without changing what
/// others mean: integers are indices.
bool is_floating(ElementType type);

/// An input whose values may be others: of an input, or an in_out tensor, with floating-point
/// elements.
bool is_changeable(const Tensor& tensor);

/// Puts the nearest value of the type in place of element `index`. Too large ones become infinite.
/// @pre is_floating(type)
void put_element(ElementType type, std::span<std::byte> bytes, std::size_t index, double value);

/// Each element in place of itself. @param change of an element's number and value
void change_elements(Tensor& tensor,
                     const std::function<double(std::size_t index, double value)>& change);

/// Element i of the result is element `source(i)` of the tensor, or zero where that lies outside.
void move_elements(Tensor& tensor, const std::function<std::int64_t(std::int64_t)>& source);

}  // namespace rooflab
