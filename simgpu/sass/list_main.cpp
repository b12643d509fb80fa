// Prints what read_code() makes of a cubin: one instruction a line, for compare_nvdisasm.
//   simgpu_sass_list CUBIN CAPABILITY
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "simgpu/sass/kernel_code.h"

namespace {

void print(const simgpu::sass::Instruction& instruction) {
  std::string registers;
  if (instruction.writes != simgpu::sass::Instruction::kNoRegister)
    registers += fmt::format(" {}", instruction.writes);
  for (const auto one : instruction.reads) {
    if (one != simgpu::sass::Instruction::kNoRegister) registers += fmt::format(" {}", one);
  }
  fmt::print("{:x}\t{}\t{}{}\t{}\t{}\t{}\t{}\n", instruction.address,
             instruction.name.empty() ? "?" : instruction.name,
             instruction.predicate.negated ? "!" : "", instruction.predicate.index,
             registers.empty() ? "" : registers.substr(1), instruction.access_bytes,
             instruction.target ? fmt::format("{:x}", *instruction.target) : "",
             instruction.ptx_line);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: simgpu_sass_list CUBIN CAPABILITY\n");
    return 2;
  }
  try {
    std::ifstream file(argv[1], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto capability = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
    for (const auto& [name, kernel] :
         simgpu::sass::read_code(std::as_bytes(std::span(bytes)), capability)) {
      fmt::print("kernel {}\t{}\n", name, kernel.why_not);
      for (const simgpu::sass::Instruction& instruction : kernel.instructions) print(instruction);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
