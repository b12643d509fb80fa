#pragma once

#include <cstdint>
#include <string>

#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/tensors.h"

/// The tensors of Part 3's problems.
namespace rooflab {

/// int32 (count): first, first + 1, …
Tensor consecutive(const std::string& name, std::int64_t first, std::int64_t count);

}  // namespace rooflab
