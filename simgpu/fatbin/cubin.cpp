#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "simgpu/fatbin/byte_reader.h"
#include "simgpu/fatbin/elf.h"
#include "simgpu/fatbin/fatbin.h"

// NVIDIA's own sections: .text.<kernel>, .nv.shared.<kernel> and .nv.info, a list of attributes.
// Attribute numbers and the meaning of sh_info were checked against what ptxas -v prints for the
// same code.
namespace simgpu::fatbin {
namespace {

constexpr unsigned kSymbolFunction = 2;
constexpr unsigned kSymbolIsKernel = 0x10;  // in st_other

constexpr unsigned kAttributeFrameBytes = 0x11;
constexpr unsigned kAttributeStackBytes = 0x12;  // the frame and those of the functions it calls
constexpr unsigned kAttributeRegisters = 0x2F;
constexpr std::uint32_t kUnknownStack = 0xFFFFFFFF;  // recursion

/// What .nv.info says of one symbol.
struct Attributes {
  std::optional<std::uint32_t> registers;
  std::optional<std::uint32_t> frame_bytes;
  std::optional<std::uint32_t> stack_bytes;
};

using AttributesBySymbol = std::unordered_map<std::uint32_t, Attributes>;

/// .nv.info: attributes, of which those of interest are pairs of a symbol's index and a value.
AttributesBySymbol read_attributes(std::span<const std::byte> info) {
  constexpr std::string_view kWhat = "an attribute of .nv.info";
  AttributesBySymbol by_symbol;
  for_each_attribute(info, [&](unsigned attribute, std::span<const std::byte> payload) {
    const bool is_known = attribute == kAttributeFrameBytes || attribute == kAttributeStackBytes ||
                          attribute == kAttributeRegisters;
    if (!is_known) return;
    Attributes& symbol = by_symbol[read_integer<std::uint32_t>(payload, 0, kWhat)];
    const auto amount = read_integer<std::uint32_t>(payload, 4, kWhat);
    if (attribute == kAttributeFrameBytes) symbol.frame_bytes = amount;
    if (attribute == kAttributeStackBytes) symbol.stack_bytes = amount;
    if (attribute == kAttributeRegisters) symbol.registers = amount;
  });
  return by_symbol;
}

unsigned local_bytes(const Attributes& attributes) {
  if (attributes.stack_bytes && *attributes.stack_bytes != kUnknownStack) {
    return *attributes.stack_bytes;
  }
  return attributes.frame_bytes.value_or(0);
}

struct Symbol {
  std::string_view name;
  std::uint32_t index = 0;
  std::size_t section = 0;  ///< that holds its code
};

/// The functions of a symbol table that the host can launch. Their names together are no longer
/// than the table of names: ends of one long name would otherwise pass for millions of names.
std::vector<Symbol> kernel_symbols(const std::vector<Section>& sections, const Section& table) {
  constexpr std::string_view kWhat = "a symbol of the cubin";
  if (table.link >= sections.size()) throw FatbinError("the cubin's symbols have no names");
  const auto names = sections[table.link].contents;
  std::vector<Symbol> kernels;
  std::size_t name_bytes = 0;
  const std::uint64_t count = table.contents.size() / kSymbolBytes;
  for (std::uint64_t index = 0; index < count; ++index) {
    const auto bytes = slice(table.contents, index * kSymbolBytes, kSymbolBytes, kWhat);
    const unsigned type = read_integer<std::uint8_t>(bytes, 4, kWhat) & 0xFU;
    const unsigned other = read_integer<std::uint8_t>(bytes, 5, kWhat);
    const auto section = read_integer<std::uint16_t>(bytes, 6, kWhat);
    const bool is_kernel = type == kSymbolFunction && (other & kSymbolIsKernel) != 0;
    if (!is_kernel || section >= sections.size()) continue;
    kernels.push_back({.name = string_at(names, read_integer<std::uint32_t>(bytes, 0, kWhat)),
                       .index = static_cast<std::uint32_t>(index),
                       .section = section});
    name_bytes += kernels.back().name.size() + 1;
    if (name_bytes > names.size()) throw FatbinError("the names of the cubin's kernels overlap");
  }
  return kernels;
}

}  // namespace

std::map<std::string, KernelResources> read_resources(std::span<const std::byte> elf) {
  const std::vector<Section> sections = read_sections(elf);
  constexpr std::string_view kSharedPrefix = ".nv.shared.";
  constexpr std::string_view kKeptPrefix = ".nv.shared.reserved.";
  // From capability 9.0 on the system keeps the first of a block's shared memory, which the
  // kernel's section holds as well. It is no part of what the kernel asks for.
  constexpr std::uint64_t kKeptBytes = 1024;
  const bool keeps = std::ranges::any_of(
      sections, [&](const Section& section) { return section.name.starts_with(kKeptPrefix); });
  std::unordered_map<std::string_view, unsigned> shared_bytes;
  for (const Section& section : sections) {
    if (!section.name.starts_with(kSharedPrefix)) continue;
    const std::string_view kernel = section.name.substr(kSharedPrefix.size());
    const std::uint64_t kept = keeps ? std::min<std::uint64_t>(section.bytes, kKeptBytes) : 0;
    shared_bytes[kernel] = static_cast<unsigned>(section.bytes - kept);
  }
  const Section* const table = symbol_table(sections);
  const Section* const info = section_named(sections, ".nv.info");
  if (table == nullptr) return {};
  AttributesBySymbol attributes;
  if (info != nullptr) attributes = read_attributes(info->contents);

  std::map<std::string, KernelResources> kernels;
  for (const Symbol& symbol : kernel_symbols(sections, *table)) {
    const Attributes& known = attributes[symbol.index];
    KernelResources& kernel = kernels[std::string(symbol.name)];
    // The upper byte of the code section's sh_info repeats the register count.
    kernel.registers_per_thread = known.registers.value_or(sections[symbol.section].info >> 24);
    kernel.local_bytes_per_thread = local_bytes(known);
    const auto shared = shared_bytes.find(symbol.name);
    if (shared != shared_bytes.end()) kernel.static_shared_bytes = shared->second;
  }
  return kernels;
}

}  // namespace simgpu::fatbin
