#include "grader/pipeline/elf_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>
#include <string_view>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

/// The bytes of a library, read only where they exist.
class Image {
 public:
  explicit Image(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T at(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, range(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view range(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      throw ElfError("the library points outside itself");
    }
    return bytes_.substr(offset, size);
  }

 private:
  std::string_view bytes_;
};

std::string name_at(std::string_view strings, std::uint32_t offset) {
  if (offset >= strings.size()) throw ElfError("a symbol's name lies outside the string table");
  const std::string_view rest = strings.substr(offset);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) throw ElfError("a symbol's name has no end");
  return std::string(rest.substr(0, end));
}

/// Symbols of no version have version index 0 (local) or 1 (global); the top bit means "hidden".
bool is_versioned(const Image& image, const Elf64_Shdr& versions, std::uint64_t symbol) {
  if (versions.sh_type != SHT_GNU_versym) return false;
  return (image.at<Elf64_Half>(versions.sh_offset + symbol * sizeof(Elf64_Half)) & 0x7FFF) > 1;
}

void read_table(const Image& image, const Elf64_Shdr& section, const Elf64_Shdr& versions,
                std::string_view strings, DynamicSymbols& symbols) {
  const std::uint64_t count = section.sh_size / sizeof(Elf64_Sym);
  image.range(section.sh_offset, section.sh_size);
  for (std::uint64_t i = 1; i < count; ++i) {  // the first symbol is reserved and nameless
    const auto symbol = image.at<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
    std::string name = name_at(strings, symbol.st_name);
    if (symbol.st_shndx != SHN_UNDEF) {
      symbols.defined.push_back(std::move(name));
      continue;
    }
    const bool required = ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL;
    if (required && name.starts_with("_Z") && !is_versioned(image, versions, i)) {
      symbols.unresolved.push_back(name);
    }
    symbols.undefined.push_back(std::move(name));
  }
}

}  // namespace

DynamicSymbols read_dynamic_symbols(const std::filesystem::path& library) {
  const std::string bytes = read_file(library, std::size_t{256} << 20);
  const Image image(bytes);
  const auto header = image.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr)) {
    throw ElfError(fmt::format("{} is no 64-bit ELF library", library.string()));
  }
  const auto section_at = [&](std::uint64_t index) {
    if (index >= header.e_shnum)
      throw ElfError("the library names a section that it does not have");
    return image.at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  Elf64_Shdr versions{};
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    if (section_at(i).sh_type == SHT_GNU_versym) versions = section_at(i);
  }
  DynamicSymbols symbols;
  bool found = false;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = section_at(i);
    if (section.sh_type != SHT_DYNSYM) continue;
    const Elf64_Shdr strings = section_at(section.sh_link);
    read_table(image, section, versions, image.range(strings.sh_offset, strings.sh_size), symbols);
    found = true;
  }
  if (!found) throw ElfError(fmt::format("{} has no dynamic symbols", library.string()));
  return symbols;
}

std::string first_forbidden(const DynamicSymbols& symbols,
                            const std::vector<std::string>& patterns) {
  const std::vector<std::regex> forbidden(patterns.begin(), patterns.end());
  const auto matches = [&](const std::string& symbol) {
    return std::ranges::any_of(
        forbidden, [&](const std::regex& pattern) { return std::regex_search(symbol, pattern); });
  };
  for (const auto* table : {&symbols.undefined, &symbols.defined}) {
    const auto found = std::ranges::find_if(*table, matches);
    if (found != table->end()) return *found;
  }
  return {};
}

}  // namespace rooflab
