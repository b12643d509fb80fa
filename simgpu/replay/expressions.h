#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/source/tokens.h"

namespace simgpu::replay {

/// What a name stands for, "n" or "threadIdx.x"; nothing where nobody knows.
using IntegerNames = std::function<std::optional<std::int64_t>(const std::string& name)>;

/// The value of an integer expression of sums, products, quotients, remainders, parentheses and
/// static_cast; nothing where it has anything else in it.
std::optional<std::int64_t> integer_value(const std::vector<Token>& expression,
                                          const IntegerNames& names);

}  // namespace simgpu::replay
