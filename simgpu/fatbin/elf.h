#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "simgpu/fatbin/byte_reader.h"
#include "simgpu/fatbin/fatbin.h"

// A cubin is an ELF64 file ("ELF-64 Object File Format", version 1.5) with NVIDIA's own sections.
namespace simgpu::fatbin {

inline constexpr std::uint64_t kSymbolBytes = 24;  ///< of a table of symbols

struct Section {
  static constexpr std::uint32_t kUnused = 0, kSymbols = 2, kWithoutBytes = 8;

  std::string_view name;
  std::uint32_t type = kUnused;
  std::uint64_t bytes = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::span<const std::byte> contents;  ///< empty for a section without bytes in the file
};

/// @throws FatbinError when the ELF file is malformed
std::vector<Section> read_sections(std::span<const std::byte> elf);

/// The name that begins there in a table of names. @throws FatbinError when it does not end
std::string_view string_at(std::span<const std::byte> table, std::uint64_t offset);

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

inline const Section* section_named(const std::vector<Section>& sections, std::string_view name) {
  return only_section(sections, [&](const Section& section) { return section.name == name; });
}

/// Calls take(number, bytes) for each attribute of an .nv.info section that has bytes of its own.
template <typename Take>
void for_each_attribute(std::span<const std::byte> info, const Take& take) {
  constexpr std::string_view kWhat = "an attribute of .nv.info";
  constexpr unsigned kSized = 4;  // its value is a length, which so many bytes follow
  for (std::uint64_t offset = 0; offset < info.size();) {
    const auto format = read_integer<std::uint8_t>(info, offset, kWhat);
    const auto attribute = read_integer<std::uint8_t>(info, offset + 1, kWhat);
    const auto value = read_integer<std::uint16_t>(info, offset + 2, kWhat);
    offset += 4;
    if (format != kSized) continue;
    take(unsigned{attribute}, slice(info, offset, value, kWhat));
    offset += value;
  }
}

/// The table of symbols, or nullptr.
inline const Section* symbol_table(const std::vector<Section>& sections) {
  return only_section(sections,
                      [](const Section& section) { return section.type == Section::kSymbols; });
}

}  // namespace simgpu::fatbin
