#include "simgpu/sass/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "simgpu/fatbin/byte_reader.h"
#include "simgpu/fatbin/elf.h"
#include "simgpu/fatbin/line_table.h"
#include "simgpu/sass/decoder.h"

namespace simgpu::sass {
namespace {

constexpr std::string_view kCodePrefix = ".text.", kInfoPrefix = ".nv.info.";

std::string objection_to(const Instruction& instruction, std::uint64_t code_bytes) {
  if (instruction.name.empty())
    return fmt::format("opcode 0x{:03x} is not known", instruction.opcode);
  const auto& target = instruction.target;
  if (target && (*target >= code_bytes || *target % kInstructionBytes != 0))
    return fmt::format("{} at 0x{:x} leaves the kernel's code", instruction.name,
                       instruction.address);
  return {};
}

/// EIATTR_INDIRECT_BRANCH_TARGETS, as `cuobjdump -elf` names it: for each jump its address, a zero,
/// how many targets there are, and the targets.
void read_jump_tables(std::span<const std::byte> info, KernelCode& kernel) {
  constexpr std::string_view kWhat = "a table of jumps";
  constexpr unsigned kJumpTargets = 0x34;
  const std::uint64_t end = kernel.instructions.size() * kInstructionBytes;
  fatbin::for_each_attribute(info, [&](unsigned attribute, std::span<const std::byte> bytes) {
    if (attribute != kJumpTargets) return;
    for (std::uint64_t at = 0; at < bytes.size();) {
      const auto jump = fatbin::read_integer<std::uint32_t>(bytes, at, kWhat);
      const auto count = fatbin::read_integer<std::uint32_t>(bytes, at + 8, kWhat);
      at += 12;
      std::vector<std::uint64_t>& table = kernel.jump_tables[jump];
      for (std::uint32_t i = 0; i < count; ++i, at += 4) {
        table.push_back(fatbin::read_integer<std::uint32_t>(bytes, at, kWhat));
        const bool is_inside = table.back() < end && table.back() % kInstructionBytes == 0;
        if (!is_inside && kernel.why_not.empty())
          kernel.why_not = fmt::format("the jump at 0x{:x} leaves the kernel's code", jump);
      }
    }
  });
}

/// Of code that calls what is not in it.
void note_lines_elsewhere(std::map<std::string, KernelCode>& kernels) {
  for (auto& [name, kernel] : kernels) {
    const bool calls = std::ranges::any_of(
        kernel.instructions, [](const Instruction& one) { return one.flow == Flow::external; });
    if (!calls) continue;
    std::set<std::uint32_t> own;
    for (const Instruction& one : kernel.instructions) own.insert(one.ptx_line);
    for (const auto& [other_name, other] : kernels) {
      for (const Instruction& one : other.instructions) {
        if (!own.contains(one.ptx_line)) kernel.lines_elsewhere.insert(one.ptx_line);
      }
    }
  }
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
  std::map<std::string_view, std::span<const std::byte>> infos;
  for (const fatbin::Section& section : sections) {
    if (section.name.starts_with(kInfoPrefix))
      infos.emplace(section.name.substr(kInfoPrefix.size()), section.contents);
  }
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
    const std::string name(sections[i].name.substr(kCodePrefix.size()));
    const auto info = infos.find(name);
    if (info != infos.end()) read_jump_tables(info->second, kernel);
    kernels[name] = std::move(kernel);
  }
  note_lines_elsewhere(kernels);
  return kernels;
}

}  // namespace simgpu::sass
