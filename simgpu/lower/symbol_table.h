#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace simgpu {

/// Where the caller put each module-scope .global and .const variable, and each function of
/// functions_with_address(): name -> device address.
using SymbolTable = std::map<std::string, std::uint64_t>;

}  // namespace simgpu
