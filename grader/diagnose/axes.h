#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grader/contract/problem.h"

namespace rooflab {

/// By tensor: what its axes are called, outermost first, as part.toml declares it. A tensor, or an
/// axis, that is not there has no name.
using AxisNames = std::map<std::string, std::vector<std::string>>;

/// "channel" of `axis`; "axis 2" where it has no name.
std::string axis_name(const AxisNames& names, const Tensor& tensor, std::size_t axis);
/// "channels": of several coordinates.
std::string axis_names(const AxisNames& names, const Tensor& tensor, std::size_t axis);

/// "3", "3 and 5", "0 to 7", "0 to 7 and 16": coordinates in order; many of them end in "…".
std::string coordinates_text(const std::vector<std::int64_t>& coordinates);

/// "token 5", "channels 60 to 63", "all channels".
std::string slices_text(const AxisNames& names, const Tensor& tensor, std::size_t axis,
                        const std::vector<std::int64_t>& coordinates);

/// Coordinate of an element along an axis of a row-major tensor.
std::int64_t coordinate_of(const std::vector<std::int64_t>& shape, std::size_t axis,
                           std::int64_t element);

/// "token 3, channel 17", or of `count` neighbouring elements of one row "token 3, channels 4 to
/// 7": their place in the task's words. Empty for a tensor whose axes have no names. An element
/// behind the tensor's end has an outermost coordinate that the tensor does not have.
std::string place_text(const AxisNames& names, const Tensor& tensor, std::uint64_t first,
                       std::uint64_t count);

/// "y[3][17]", or where the axes have names "y at token 3, channel 17".
std::string element_text(const AxisNames& names, const Tensor& tensor, std::uint64_t element);

}  // namespace rooflab
