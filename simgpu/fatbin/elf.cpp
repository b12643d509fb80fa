#include "simgpu/fatbin/elf.h"

#include <array>

#include "simgpu/fatbin/byte_reader.h"

namespace simgpu::fatbin {
namespace {

constexpr std::array kElfMagic = {std::byte{0x7F}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
constexpr std::byte kClass64{2};
constexpr std::byte kLittleEndian{1};
constexpr std::uint64_t kSectionHeaderBytes = 64;
constexpr std::size_t kLongestName = 16384;

/// All of `bytes` from offset on.
std::span<const std::byte> rest(std::span<const std::byte> bytes, std::uint64_t offset,
                                std::string_view what) {
  const std::uint64_t skipped = std::min<std::uint64_t>(offset, bytes.size());
  return slice(bytes, offset, bytes.size() - skipped, what);
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

}  // namespace

std::string_view string_at(std::span<const std::byte> table, std::uint64_t offset) {
  auto bytes = rest(table, offset, "a name of the cubin");
  bytes = bytes.first(std::min(bytes.size(), kLongestName));
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  if (end == bytes.end()) throw FatbinError("a name of the cubin does not end");
  return {reinterpret_cast<const char*>(bytes.data()),
          static_cast<std::size_t>(end - bytes.begin())};
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
    const bool has_bytes =
        section.type != Section::kWithoutBytes && section.type != Section::kUnused;
    if (has_bytes) section.contents = section_contents(elf, header);
    sections.push_back(section);
  }
  return sections;
}

}  // namespace simgpu::fatbin
