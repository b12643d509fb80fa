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
  std::uint32_t ptx_line = 0;              ///< of the PTX that was assembled; 0: unknown
  double loads = 0, stores = 0;            ///< each time that the line is executed
  double load_words = 0, store_words = 0;  ///< of 4 bytes, of each thread
};

/// The spills of each kernel (mangled name) that has any, those of the functions that it calls
/// among them. Untrusted bytes; @throws FatbinError when the ELF file is malformed.
std::map<std::string, std::vector<Spills>> read_spills(std::span<const std::byte> elf);

}  // namespace simgpu::fatbin
