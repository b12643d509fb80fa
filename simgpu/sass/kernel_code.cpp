#include "simgpu/sass/kernel_code.h"

#include <fmt/format.h>

#include "simgpu/fatbin/byte_reader.h"
#include "simgpu/fatbin/elf.h"
#include "simgpu/fatbin/line_table.h"
#include "simgpu/sass/decoder.h"

namespace simgpu::sass {
namespace {

constexpr std::string_view kCodePrefix = ".text.";

std::string objection_to(const Instruction& instruction, std::uint64_t code_bytes) {
  if (instruction.name.empty())
    return fmt::format("opcode 0x{:03x} is not known", instruction.opcode);
  const auto& target = instruction.target;
  if (target && (*target >= code_bytes || *target % kInstructionBytes != 0))
    return fmt::format("{} at 0x{:x} leaves the kernel's code", instruction.name,
                       instruction.address);
  return {};
}

}  // namespace

KernelCode decode_kernel(std::span<const std::byte> code, unsigned capability) {
  constexpr std::string_view kWhat = "the cubin's code";
  KernelCode kernel;
  const std::uint64_t end = code.size() / kInstructionBytes * kInstructionBytes;
  for (std::uint64_t at = 0; at < end; at += kInstructionBytes) {
    const Word word{.low = fatbin::read_integer<std::uint64_t>(code, at, kWhat),
                    .high = fatbin::read_integer<std::uint64_t>(code, at + 8, kWhat)};
    const Instruction& made = kernel.instructions.emplace_back(decode(word, capability, at));
    if (kernel.why_not.empty()) kernel.why_not = objection_to(made, end);
  }
  if (kernel.instructions.empty()) kernel.why_not = "there is no code";
  return kernel;
}

std::map<std::string, KernelCode> read_code(std::span<const std::byte> cubin, unsigned capability) {
  const std::vector<fatbin::Section> sections = fatbin::read_sections(cubin);
  const std::map<std::size_t, fatbin::LineRows> lines = fatbin::read_ptx_lines(sections);
  std::map<std::string, KernelCode> kernels;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!sections[i].name.starts_with(kCodePrefix)) continue;
    KernelCode kernel = decode_kernel(sections[i].contents, capability);
    const auto rows = lines.find(i);
    if (rows == lines.end() && kernel.why_not.empty()) kernel.why_not = "it has no table of lines";
    if (rows != lines.end()) {
      for (Instruction& instruction : kernel.instructions)
        instruction.ptx_line = fatbin::line_at(rows->second, instruction.address);
    }
    kernels[std::string(sections[i].name.substr(kCodePrefix.size()))] = std::move(kernel);
  }
  return kernels;
}

}  // namespace simgpu::sass
