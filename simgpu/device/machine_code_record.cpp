#include "simgpu/device/machine_code_record.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include "simgpu/sass/alignment.h"

namespace simgpu {
namespace {

std::uint64_t instructions_of(const sass::CutCode& code) {
  std::uint64_t instructions = 0;
  for (const sass::BasicBlock& block : code.blocks) instructions += block.last - block.first;
  return instructions;
}

}  // namespace

MachineCodeRecord machine_code_record(const LoadedKernel& kernel, const LaunchResult& result) {
  if (kernel.machine_code == nullptr) return {.why_not = "there is no machine code of it"};
  const sass::CutCode& code = *kernel.machine_code;
  const sass::Alignment alignment = sass::align(
      code.code, code.blocks, sass::count_lines(kernel.info->instructions, result.executed));
  if (std::getenv("SASS_DEBUG")) {
    const auto counts = sass::count_lines(kernel.info->instructions, result.executed);
    for (std::size_t i = 0; i < alignment.blocks.size(); ++i) {
      const auto& b = code.blocks[i];
      std::string to;
      for (auto n : b.leads_to) {
        to += " ";
        to += std::to_string(n);
      }
      std::fprintf(stderr, "block %zu len %u threads %.1f warps %.1f ->%s%s\n", i, b.last - b.first,
                   alignment.blocks[i].threads, alignment.blocks[i].warps, to.c_str(),
                   b.may_end ? " end" : "");
      for (auto at = b.first; at < b.last; ++at) {
        const auto& in = code.code.instructions[at];
        const auto l = counts.lines.find(in.ptx_line);
        std::fprintf(stderr, "   %4lx %s%.*s line %u t %.0f bt %.0f bw %.0f\n", in.address,
                     in.predicate.is_always() ? "" : "@P ", int(in.name.size()), in.name.data(),
                     in.ptx_line, l == counts.lines.end() ? -1 : l->second.threads,
                     l == counts.lines.end() ? -1 : l->second.block_threads,
                     l == counts.lines.end() ? -1 : l->second.block_warps);
      }
    }
  }
  return {.instructions = instructions_of(code),
          .aligned = alignment.why_not.empty(),
          .warp_instructions = alignment.issued,
          .deviation = alignment.deviation,
          .why_not = alignment.why_not};
}

}  // namespace simgpu
