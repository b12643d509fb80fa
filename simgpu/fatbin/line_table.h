#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "simgpu/fatbin/elf.h"

namespace simgpu::fatbin {

/// From this place in the code on, up to the next row's, instructions are of this line.
struct LineRow {
  std::uint64_t address = 0;
  std::uint32_t line = 0;  ///< of the PTX that was assembled, from 1
  bool operator==(const LineRow&) const = default;
};
/// In order of addresses.
using LineRows = std::vector<LineRow>;

/// The line of the instruction at an address; 0: unknown.
std::uint32_t line_at(const LineRows& rows, std::uint64_t address);

/// Which line of PTX became which machine instructions, by the index of the section that holds the
/// code: .nv_debug_line_sass, which ptxas writes for --generate-line-info. Empty when the cubin has
/// none. @throws FatbinError when it is malformed
std::map<std::size_t, LineRows> read_ptx_lines(const std::vector<Section>& sections);

}  // namespace simgpu::fatbin
