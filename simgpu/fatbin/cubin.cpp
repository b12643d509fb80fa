#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "simgpu/fatbin/byte_reader.h"
#include "simgpu/fatbin/fatbin.h"

// A cubin is an ELF64 file ("ELF-64 Object File Format", version 1.5) with NVIDIA's own sections:
// .text.<kernel>, .nv.shared.<kernel> and .nv.info, a list of attributes. Attribute numbers and the
// meaning of sh_info were checked against what ptxas -v prints for the same code.
namespace simgpu::fatbin {
namespace {

constexpr std::array kElfMagic = {std::byte{0x7F}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
constexpr std::byte kClass64{2};
constexpr std::byte kLittleEndian{1};
constexpr std::uint64_t kSectionHeaderBytes = 64;
constexpr std::uint64_t kSymbolBytes = 24;
constexpr std::uint32_t kSectionUnused = 0;
constexpr std::uint32_t kSectionSymbols = 2;
constexpr std::uint32_t kSectionWithoutBytes = 8;
constexpr unsigned kSymbolFunction = 2;
constexpr unsigned kSymbolIsKernel = 0x10;  // in st_other
constexpr std::size_t kLongestName = 16384;

constexpr unsigned kFormatSized = 4;  // of an attribute that is followed by a length and bytes
constexpr unsigned kAttributeFrameBytes = 0x11;
constexpr unsigned kAttributeStackBytes = 0x12;  // the frame and those of the functions it calls
constexpr unsigned kAttributeRegisters = 0x2F;
constexpr std::uint32_t kUnknownStack = 0xFFFFFFFF;  // recursion

struct Section {
  std::string_view name;
  std::uint32_t type = kSectionUnused;
  std::uint64_t bytes = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::span<const std::byte> contents;  ///< empty for a section without bytes in the file
};

/// What .nv.info says of one symbol.
struct Attributes {
  std::optional<std::uint32_t> registers;
  std::optional<std::uint32_t> frame_bytes;
  std::optional<std::uint32_t> stack_bytes;
};

/// All of `bytes` from offset on.
std::span<const std::byte> rest(std::span<const std::byte> bytes, std::uint64_t offset,
                                std::string_view what) {
  const std::uint64_t skipped = std::min<std::uint64_t>(offset, bytes.size());
  return slice(bytes, offset, bytes.size() - skipped, what);
}

std::string_view string_at(std::span<const std::byte> table, std::uint64_t offset) {
  auto bytes = rest(table, offset, "a name of the cubin");
  bytes = bytes.first(std::min(bytes.size(), kLongestName));
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  if (end == bytes.end()) throw FatbinError("a name of the cubin does not end");
  return {reinterpret_cast<const char*>(bytes.data()),
          static_cast<std::size_t>(end - bytes.begin())};
}

std::span<const std::byte> section_header(std::span<const std::byte> elf, std::uint64_t table,
                                          std::uint64_t index) {
  return slice(rest(elf, table, "the cubin's section table"), index * kSectionHeaderBytes,
               kSectionHeaderBytes, "a section of the cubin");
}

std::span<const std::byte> section_contents(std::span<const std::byte> elf,
                                            std::span<const std::byte> header) {
  constexpr std::string_view kWhat = "a section of the cubin";
  return slice(elf, read_integer<std::uint64_t>(header, 24, kWhat),
               read_integer<std::uint64_t>(header, 32, kWhat), kWhat);
}

void check_identification(std::span<const std::byte> elf) {
  const auto identification = slice(elf, 0, 16, "the cubin's header");
  if (!std::equal(kElfMagic.begin(), kElfMagic.end(), identification.begin()) ||
      identification[4] != kClass64 || identification[5] != kLittleEndian) {
    throw FatbinError("the machine code is not a little-endian ELF64 file");
  }
}

std::vector<Section> read_sections(std::span<const std::byte> elf) {
  constexpr std::string_view kWhat = "the cubin's header";
  check_identification(elf);
  const auto table = read_integer<std::uint64_t>(elf, 40, kWhat);
  const auto header_bytes = read_integer<std::uint16_t>(elf, 58, kWhat);
  const auto count = read_integer<std::uint16_t>(elf, 60, kWhat);
  const auto names_index = read_integer<std::uint16_t>(elf, 62, kWhat);
  if (count == 0) return {};
  if (header_bytes != kSectionHeaderBytes) {
    throw FatbinError(fmt::format("the cubin's section headers have {} bytes each instead of {}",
                                  header_bytes, kSectionHeaderBytes));
  }
  const auto names = section_contents(elf, section_header(elf, table, names_index));
  std::vector<Section> sections;
  for (std::uint64_t index = 0; index < count; ++index) {
    const auto header = section_header(elf, table, index);
    Section section;
    section.name = string_at(names, read_integer<std::uint32_t>(header, 0, kWhat));
    section.type = read_integer<std::uint32_t>(header, 4, kWhat);
    section.bytes = read_integer<std::uint64_t>(header, 32, kWhat);
    section.link = read_integer<std::uint32_t>(header, 40, kWhat);
    section.info = read_integer<std::uint32_t>(header, 44, kWhat);
    const bool has_bytes = section.type != kSectionWithoutBytes && section.type != kSectionUnused;
    if (has_bytes) section.contents = section_contents(elf, header);
    sections.push_back(section);
  }
  return sections;
}

/// The section that `is_wanted`, or nullptr. A cubin has one table of symbols and one of
/// attributes; more would let a small file ask for the same work tens of thousands of times.
template <typename Predicate>
const Section* only_section(const std::vector<Section>& sections, const Predicate& is_wanted) {
  const auto first = std::find_if(sections.begin(), sections.end(), is_wanted);
  if (first == sections.end()) return nullptr;
  if (std::find_if(first + 1, sections.end(), is_wanted) != sections.end()) {
    throw FatbinError(fmt::format("the cubin has section '{}' twice", first->name));
  }
  return &*first;
}

using AttributesBySymbol = std::unordered_map<std::uint32_t, Attributes>;

/// .nv.info: attributes, of which those of interest are pairs of a symbol's index and a value.
AttributesBySymbol read_attributes(std::span<const std::byte> info) {
  constexpr std::string_view kWhat = "an attribute of .nv.info";
  AttributesBySymbol by_symbol;
  for (std::uint64_t offset = 0; offset < info.size();) {
    const auto format = read_integer<std::uint8_t>(info, offset, kWhat);
    const auto attribute = read_integer<std::uint8_t>(info, offset + 1, kWhat);
    const auto value = read_integer<std::uint16_t>(info, offset + 2, kWhat);
    offset += 4;
    if (format != kFormatSized) continue;
    const auto payload = slice(info, offset, value, kWhat);
    offset += value;
    const bool is_known = attribute == kAttributeFrameBytes || attribute == kAttributeStackBytes ||
                          attribute == kAttributeRegisters;
    if (!is_known) continue;
    Attributes& symbol = by_symbol[read_integer<std::uint32_t>(payload, 0, kWhat)];
    const auto amount = read_integer<std::uint32_t>(payload, 4, kWhat);
    if (attribute == kAttributeFrameBytes) symbol.frame_bytes = amount;
    if (attribute == kAttributeStackBytes) symbol.stack_bytes = amount;
    if (attribute == kAttributeRegisters) symbol.registers = amount;
  }
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
  const Section* const table = only_section(
      sections, [](const Section& section) { return section.type == kSectionSymbols; });
  const Section* const info =
      only_section(sections, [](const Section& section) { return section.name == ".nv.info"; });
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
