#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "simgpu/sass/instruction.h"

namespace simgpu::sass {

/// The machine code of one kernel, in order of addresses.
struct KernelCode {
  std::vector<Instruction> instructions;
  std::string why_not = {};  ///< why it is not understood; empty where it is
  /// Where jumps to addresses in registers lead, by the address of the jump: the tables that ptxas
  /// makes of a switch. Of other such jumps nobody knows.
  std::map<std::uint64_t, std::vector<std::uint64_t>> jump_tables = {};
  /// Lines of PTX that other functions of the cubin were made of.
  std::set<std::uint32_t> lines_elsewhere = {};
};

/// Decodes every instruction and checks that each is known and that jumps stay in the code.
/// @param code the bytes of a kernel's section; what does not fill an instruction is left out
/// @param capability 80 for sm_80
KernelCode decode_kernel(std::span<const std::byte> code, unsigned capability);

/// All kernels of a cubin, by mangled name, with the lines of PTX that instructions were made of.
/// Other functions with a section of their own are among them.
/// @throws fatbin::FatbinError when the cubin is malformed
std::map<std::string, KernelCode> read_code(std::span<const std::byte> cubin, unsigned capability);

}  // namespace simgpu::sass
