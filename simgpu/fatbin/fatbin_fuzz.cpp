// libFuzzer's entry: any bytes either read as a fat binary or throw FatbinError, and so do its
// cubins. They also make a cubin, whose sections and symbols may be any. Built with
// -DROOFLAB_FUZZ=ON by clang; fatbin_mutation_test.cpp calls the same function.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "simgpu/fatbin/fatbin.h"
#include "simgpu/fatbin/spills.h"
#include "simgpu/fuzzing/grammar/elf_bytes.h"

namespace {

std::string made_cubin(std::string_view bytes) {
  static constexpr std::array<std::string_view, 9> kSections = {".text.",
                                                                ".nv.shared.",
                                                                ".nv.info",
                                                                ".symtab",
                                                                ".strtab",
                                                                ".nv.info.",
                                                                ".nv.constant0.",
                                                                ".nv_debug_line_sass",
                                                                ".rel.nv_debug_line_sass"};
  static constexpr std::array<std::string_view, 4> kSymbols = {"gemm", "_Z4gemmPf", "", "f"};
  simgpu::fuzzing::Choices choices(bytes);
  return simgpu::fuzzing::ElfBytes(choices, kSections, kSymbols).bytes();
}

void read_resources_or_throw(std::span<const std::byte> elf) {
  try {
    simgpu::fatbin::read_resources(elf);
    simgpu::fatbin::read_spills(elf);
  } catch (
      const simgpu::fatbin::FatbinError&) {  // NOLINT(bugprone-empty-catch): the other good end
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 1U << 20;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  read_resources_or_throw(bytes);
  const std::string made = made_cubin({reinterpret_cast<const char*>(data), size});
  read_resources_or_throw(std::as_bytes(std::span(made)));
  try {
    std::size_t total = 0;
    for (const auto& image : simgpu::fatbin::read(bytes, kMostBytes)) {
      total += image.payload.size();
      if (image.kind == simgpu::fatbin::Image::Kind::elf) read_resources_or_throw(image.payload);
    }
    if (total > kMostBytes) __builtin_trap();
  } catch (
      const simgpu::fatbin::FatbinError&) {  // NOLINT(bugprone-empty-catch): the other good end
  }
  return 0;
}
