#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace simgpu {

/// What the trusted side wants variables of a guest's modules to hold.
struct VariableContent {
  std::string name;              ///< a part of theirs, as they are mangled
  std::vector<std::byte> bytes;  ///< zeros are behind them; smaller variables are left
                                 ///< alone, and those of more than 1 MiB
};

}  // namespace simgpu
