// libFuzzer's entry: any bytes are code of a kernel, which is decoded, cut into blocks and loops,
// and aligned with counts that the bytes make up. Built with -DROOFLAB_FUZZ=ON by clang;
// mutation_test.cpp calls the same function.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "simgpu/fatbin/fatbin.h"
#include "simgpu/sass/alignment.h"

namespace {

using simgpu::sass::KernelCode;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

/// Counts of some lines, which need not agree with the code.
simgpu::sass::PtxCounts made_counts(KernelCode& code, std::span<const std::byte> bytes) {
  constexpr std::uint32_t kLines = 16;
  simgpu::sass::PtxCounts counts;
  counts.threads = 32;
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    simgpu::sass::Instruction& instruction = code.instructions[i];
    instruction.ptx_line = std::to_integer<std::uint32_t>(bytes[i]) % kLines;
    const double threads = std::to_integer<unsigned>(bytes[i + 1]);
    counts.lines[instruction.ptx_line] = {
        .threads = threads,
        .block_threads = threads,
        .block_warps = std::ceil(threads / 32),
        .cls = instruction.cls,
        .is_guarded = (std::to_integer<unsigned>(bytes[i]) & 16U) != 0,
        .is_sequence = false,
        .access_bytes = instruction.access_bytes};
  }
  return counts;
}

void check_code(std::span<const std::byte> bytes, unsigned capability) {
  KernelCode code = simgpu::sass::decode_kernel(bytes, capability);
  const auto blocks = simgpu::sass::basic_blocks(code);
  require(code.why_not.empty() == !blocks.empty());
  for (const auto& block : blocks) {
    require(block.first < block.last && block.last <= code.instructions.size());
    for (const std::uint32_t next : block.leads_to) require(next < blocks.size());
  }
  for (const auto& loop : simgpu::sass::find_loops(blocks)) {
    require(std::ranges::binary_search(loop.blocks, loop.head));
  }
  if (code.instructions.empty()) return;
  const auto counts = made_counts(code, bytes);
  const auto alignment = simgpu::sass::align(code, blocks, counts);
  require(alignment.issued >= 0 && std::isfinite(alignment.issued));
  require(alignment.blocks.empty() || alignment.blocks.size() == blocks.size());
  require(!blocks.empty() || !alignment.why_not.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 4096;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), std::min(size, kMostBytes));
  for (const unsigned capability : {80U, 90U, 100U}) check_code(bytes, capability);
  try {
    simgpu::sass::read_code({reinterpret_cast<const std::byte*>(data), size}, 80);
  } catch (
      const simgpu::fatbin::FatbinError&) {  // NOLINT(bugprone-empty-catch): the other good end
  }
  return 0;
}
