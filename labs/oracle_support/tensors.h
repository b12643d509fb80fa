#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "labs/oracle_support/random.h"

/// Making and reading the tensors of a problem.
namespace rooflab {

/// What the parameter `type` says that tensors are stored as: "float", "half" or "bf16".
ElementType storage_type(const Values& parameters);

/// `count` values with mean 0 and the given standard deviation, about normal.
std::vector<double> normal_values(std::int64_t count, double deviation, Random& random);

/// A tensor whose elements are what `draw` gives, in row-major order. Each is rounded to float32,
/// and for float16 and bfloat16 once more, to nearest, ties to even: a reference that reads the
/// tensor sees the very numbers that the GPU sees. For int32 they must be whole numbers; a
/// floating-point one may be a quiet NaN.
/// @throws std::invalid_argument for float64
Tensor drawn(const std::string& name, ElementType type, Role role, std::vector<std::int64_t> shape,
             const std::function<double()>& draw);

/// drawn() that holds `values`.
Tensor filled(const std::string& name, ElementType type, Role role, std::vector<std::int64_t> shape,
              const std::vector<double>& values);

/// drawn() with what normal_values() gives.
Tensor random_tensor(const std::string& name, ElementType type, Role role,
                     std::vector<std::int64_t> shape, double deviation, Random& random);

/// The tensor with -0 for one in sixty of its elements, at least one. @pre it has data, of floating
/// point
Tensor with_negative_zeros(Tensor tensor, Random& random);

/// The tensor with a quiet NaN for one in sixty of its elements, at least one, each with bits of
/// its own: none is what arithmetic makes, and none the byte that devices fill outputs with. @pre
/// it has data, of float32 or bfloat16
Tensor with_nans(Tensor tensor, Random& random);

/// Elements of a vast input that are drawn; the tensor repeats them. As many bytes as a device
/// takes, of whole pages whose number is a prime: nothing that wraps at a power of two finds the
/// same again.
inline std::int64_t vast_period(ElementType type) {
  constexpr std::int64_t kPatternBytes = std::int64_t{251} * 4096;
  return kPatternBytes / static_cast<std::int64_t>(size_of(type));
}

/// The tensor with `count` elements, which repeat those that it has.
Tensor repeated(Tensor tensor, std::int64_t count);

/// A small input of a vast problem, with room behind its elements up to the end of a page: a device
/// takes whole pages of it. @pre it is at most as large as what a vast input repeats
Tensor in_whole_pages(Tensor tensor);

/// These elements of a tensor, as doubles, of one that repeats itself too.
std::vector<double> widened(const Tensor& tensor, const std::vector<std::size_t>& elements);

/// An output that is still to be written.
Tensor output(const std::string& name, ElementType type, std::vector<std::int64_t> shape);

/// The tensor of that name. @throws std::out_of_range
const Tensor& tensor(const Problem& problem, const std::string& name);

/// The elements of a float32 tensor. @pre its data is present
std::span<const float> floats(const Tensor& tensor);

/// All elements of a tensor, as doubles. @pre its data is present
std::vector<double> widened(const Tensor& tensor);

/// The same of the tensor of that name. @throws std::out_of_range
std::vector<double> widened(const Problem& problem, const std::string& name);

}  // namespace rooflab
