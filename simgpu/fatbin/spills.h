#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace simgpu::fatbin {

/// Instructions of the machine that store a register to local memory, or load it again, because
/// ptxas has no register left for it.
struct Spills {
  std::uint32_t ptx_line = 0;              ///< of the PTX that ptxas got; 0: unknown
  double loads = 0, stores = 0;            ///< in all of the line's machine code
  double load_words = 0, store_words = 0;  ///< of 4 bytes, of each thread
  /// How often the rarest of the line's other opcodes is in its code. ptxas unrolls loops that have
  /// few turns, and has as many copies of the line then; but it also makes several alike of one
  /// instruction, as two of 32 bits for one of 64.
  unsigned alike = 1;
};

/// Those of each line of each kernel (mangled name) that spills anything, lines without spills
/// among them, and the lines of the functions that it calls. Untrusted bytes; @throws FatbinError
/// when the ELF file is malformed.
std::map<std::string, std::vector<Spills>> read_spills(std::span<const std::byte> elf);

}  // namespace simgpu::fatbin
