#include "grader/pipeline/elf_symbols.h"

#include <ar.h>
#include <elf.h>
#include <endian.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "grader/spec/files.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20;
/// Of all names of a table together: ends of one long name can be as many names.
constexpr std::size_t kMostNameBytes = std::size_t{64} << 20;
/// Of a name that is searched: std::regex recurses for each character, and names of libraries are
/// shorter by far.
constexpr std::size_t kLongestSearched = 1024;
constexpr std::string_view kWithheld = ".rooflab_withheld";
/// One is enough to fail; each is looked for in every reference.
constexpr std::size_t kMostForbidden = 100;

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
      throw ElfError("it points outside itself");
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

/// Counts the bytes of names that are kept.
class NameBudget {
 public:
  std::string take(std::string name) {
    if (name.size() > left_) throw ElfError("the names of its symbols are too long");
    left_ -= name.size();
    return name;
  }

 private:
  std::size_t left_ = kMostNameBytes;
};

/// Symbols of no version have version index 0 (local) or 1 (global); the top bit means "hidden".
bool is_versioned(const Image& image, const Elf64_Shdr& versions, std::uint64_t symbol) {
  if (versions.sh_type != SHT_GNU_versym) return false;
  return (image.at<Elf64_Half>(versions.sh_offset + symbol * sizeof(Elf64_Half)) & 0x7FFF) > 1;
}

void read_table(const Image& image, const Elf64_Shdr& section, const Elf64_Shdr& versions,
                std::string_view strings, DynamicSymbols& symbols) {
  const std::uint64_t count = section.sh_size / sizeof(Elf64_Sym);
  image.range(section.sh_offset, section.sh_size);
  NameBudget budget;
  for (std::uint64_t i = 1; i < count; ++i) {  // the first symbol is reserved and nameless
    const auto symbol = image.at<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
    std::string name = budget.take(name_at(strings, symbol.st_name));
    if (name.ends_with(kWithheld)) {
      name.resize(name.size() - kWithheld.size());
      // A defined one is a function of the submission's own.
      if (symbol.st_shndx == SHN_UNDEF) symbols.withheld.push_back(std::move(name));
      continue;
    }
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

/// The sections of an ELF file.
class Sections {
 public:
  explicit Sections(std::string_view bytes) : image_(bytes) {
    const auto header = image_.at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_shentsize != sizeof(Elf64_Shdr)) {
      throw ElfError("it is no 64-bit ELF file");
    }
    offset_ = header.e_shoff;
    count_ = header.e_shnum;
    // With 65,280 sections or more, which one for each function may come to, the count is here.
    if (count_ == 0 && offset_ != 0) count_ = image_.at<Elf64_Shdr>(offset_).sh_size;
  }

  const Image& image() const { return image_; }
  std::uint64_t count() const { return count_; }
  Elf64_Shdr at(std::uint64_t index) const {
    if (index >= count_) throw ElfError("it names a section that it does not have");
    if (index > (UINT64_MAX - offset_) / sizeof(Elf64_Shdr))
      throw ElfError("it has too many sections");
    return image_.at<Elf64_Shdr>(offset_ + index * sizeof(Elf64_Shdr));
  }
  /// The number of the section of a type. Compilers and linkers write one of each; another is
  /// somebody's assembler directive, and would be read in the place of the true one.
  std::optional<std::uint64_t> only(std::uint32_t type) const {
    std::optional<std::uint64_t> found;
    for (std::uint64_t i = 0; i < count_; ++i) {
      if (at(i).sh_type != type) continue;
      if (found) throw ElfError("it has two tables of one kind");
      found = i;
    }
    return found;
  }
  std::string_view strings_of(const Elf64_Shdr& symbols) const {
    const Elf64_Shdr strings = at(symbols.sh_link);
    return image_.range(strings.sh_offset, strings.sh_size);
  }

 private:
  Image image_;
  std::uint64_t offset_ = 0;
  std::uint64_t count_ = 0;
};

/// A symbol of an object file.
struct ObjectSymbol {
  std::string name;
  std::uint64_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  unsigned type = STT_NOTYPE;
};

std::vector<ObjectSymbol> object_symbols(const Sections& sections, std::uint64_t table) {
  const Elf64_Shdr section = sections.at(table);
  const std::string_view strings = sections.strings_of(section);
  sections.image().range(section.sh_offset, section.sh_size);
  Elf64_Shdr extended{};  // section numbers that do not fit into 16 bits
  for (std::uint64_t i = 0; i < sections.count(); ++i) {
    const Elf64_Shdr other = sections.at(i);
    if (other.sh_type == SHT_SYMTAB_SHNDX && other.sh_link == table) extended = other;
  }
  std::vector<ObjectSymbol> symbols;
  NameBudget budget;
  for (std::uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = sections.image().at<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
    std::uint64_t number = symbol.st_shndx;
    if (number == SHN_XINDEX) {
      number = sections.image().at<Elf64_Word>(extended.sh_offset + i * sizeof(Elf64_Word));
    }
    symbols.push_back({budget.take(name_at(strings, symbol.st_name)), number, symbol.st_value,
                       symbol.st_size, static_cast<unsigned>(ELF64_ST_TYPE(symbol.st_info))});
  }
  return symbols;
}

/// Finds functions by section and offset.
class FunctionsOfSections {
 public:
  explicit FunctionsOfSections(const std::vector<ObjectSymbol>& symbols) {
    for (const ObjectSymbol& symbol : symbols) {
      if (symbol.type != STT_FUNC || symbol.section == SHN_UNDEF) continue;
      Functions& functions = by_section_[symbol.section];
      if (functions.by_place.empty()) functions.first = &symbol;
      functions.by_place.push_back(&symbol);
    }
    for (auto& [section, functions] : by_section_) {
      std::ranges::stable_sort(functions.by_place, {}, &ObjectSymbol::value);
    }
  }
  std::string at(std::uint64_t section, std::uint64_t offset) const {
    const auto found = by_section_.find(section);
    if (found == by_section_.end()) return {};
    const auto& by_place = found->second.by_place;
    const auto after = std::ranges::upper_bound(by_place, offset, {}, &ObjectSymbol::value);
    if (after != by_place.begin()) {
      // Of several names of one place the first.
      const std::uint64_t place = (*std::prev(after))->value;
      const ObjectSymbol* function =
          *std::ranges::lower_bound(by_place, place, {}, &ObjectSymbol::value);
      if (offset - place < function->size) return function->name;
    }
    return found->second.first->name;
  }

 private:
  struct Functions {
    const ObjectSymbol* first = nullptr;  ///< in the table's order
    std::vector<const ObjectSymbol*> by_place;
  };
  std::map<std::uint64_t, Functions> by_section_;
};

/// Whether a section is loaded and not about the code: exception tables refer to functions, too.
bool is_code_or_data(const Elf64_Shdr& section, std::string_view names) {
  if ((section.sh_flags & SHF_ALLOC) == 0) return false;
  const std::string name = name_at(names, section.sh_name);
  return name != ".eh_frame" && !name.starts_with(".gcc_except_table");
}

}  // namespace

DynamicSymbols read_dynamic_symbols(const std::filesystem::path& library) {
  return dynamic_symbols_in(read_file(library, kLargestFile));
}

DynamicSymbols dynamic_symbols_in(std::string_view bytes) {
  const Sections sections(bytes);
  const auto versions = sections.only(SHT_GNU_versym);
  const auto table = sections.only(SHT_DYNSYM);
  if (!table) throw ElfError("it has no dynamic symbols");
  const Elf64_Shdr section = sections.at(*table);
  DynamicSymbols symbols;
  read_table(sections.image(), section, versions ? sections.at(*versions) : Elf64_Shdr{},
             sections.strings_of(section), symbols);
  return symbols;
}

std::string withheld_name(const std::string& symbol) { return symbol + std::string(kWithheld); }

bool has_match(std::string_view symbol, const std::vector<Pattern>& patterns) {
  symbol = symbol.substr(0, kLongestSearched);
  return std::ranges::any_of(patterns,
                             [&](const Pattern& pattern) { return pattern.occurs_in(symbol); });
}

std::vector<std::string> all_forbidden(const DynamicSymbols& symbols,
                                       const std::vector<std::string>& patterns) {
  const std::vector<Pattern> forbidden(patterns.begin(), patterns.end());
  std::vector<std::string> found;
  std::set<std::string_view> seen;
  for (const auto* table : {&symbols.withheld, &symbols.undefined, &symbols.defined}) {
    for (const std::string& symbol : *table) {
      if (has_match(symbol, forbidden) && seen.insert(symbol).second) found.push_back(symbol);
      if (found.size() == kMostForbidden) return found;
    }
  }
  return found;
}

std::vector<std::string> archive_symbols_in(std::string_view bytes) {
  if (!bytes.starts_with(ARMAG)) throw ElfError("it is no archive");
  if (bytes.size() == SARMAG) return {};
  const Image image(bytes);
  const auto header = image.at<ar_hdr>(SARMAG);
  constexpr std::string_view kIndex = "/               ";  // its name, which `ar` pads
  if (std::string_view(header.ar_name, sizeof header.ar_name) != kIndex) {
    throw ElfError("it has no index; ranlib writes one");
  }
  std::uint64_t size = 0;
  std::from_chars(std::begin(header.ar_size), std::end(header.ar_size), size);
  std::string_view index = image.range(SARMAG + sizeof header, size);
  const Image numbers(index);
  const std::uint64_t count = be32toh(numbers.at<std::uint32_t>(0));
  const std::uint64_t names_at =
      (count + 1) * sizeof(std::uint32_t);  // behind their members' places
  index = numbers.range(names_at, index.size() - std::min<std::uint64_t>(names_at, index.size()));
  std::vector<std::string> symbols;
  std::uint32_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    symbols.push_back(name_at(index, at));
    at += static_cast<std::uint32_t>(symbols.back().size()) + 1;
  }
  return symbols;
}

std::vector<Reference> read_references(const std::filesystem::path& object) {
  return references_in(read_file(object, kLargestFile));
}

std::vector<Reference> references_in(std::string_view bytes) {
  const Sections sections(bytes);
  const Image& image = sections.image();
  const auto header = image.at<Elf64_Ehdr>(0);
  std::uint64_t names_at = header.e_shstrndx;
  if (names_at == SHN_XINDEX) names_at = sections.at(0).sh_link;
  const Elf64_Shdr names_section = sections.at(names_at);
  const std::string_view names = image.range(names_section.sh_offset, names_section.sh_size);

  const auto table = sections.only(SHT_SYMTAB);
  if (!table) throw ElfError("it has no symbols");
  const std::vector<ObjectSymbol> symbols = object_symbols(sections, *table);
  const FunctionsOfSections functions(symbols);

  std::set<std::pair<std::string, std::string>> found;
  for (std::uint64_t i = 0; i < sections.count(); ++i) {
    const Elf64_Shdr section = sections.at(i);
    if (section.sh_type != SHT_RELA || section.sh_link != *table) continue;
    if (!is_code_or_data(sections.at(section.sh_info), names)) continue;
    image.range(section.sh_offset, section.sh_size);
    for (std::uint64_t k = 0; k < section.sh_size / sizeof(Elf64_Rela); ++k) {
      const auto place = image.at<Elf64_Rela>(section.sh_offset + k * sizeof(Elf64_Rela));
      const std::uint64_t index = ELF64_R_SYM(place.r_info);
      if (index >= symbols.size()) throw ElfError("a relocation names no symbol");
      const ObjectSymbol& symbol = symbols[index];
      // A function of this file that others cannot see is named by its section alone.
      const std::string name =
          symbol.type == STT_SECTION ? functions.at(symbol.section, 0) : symbol.name;
      if (!name.empty()) found.emplace(functions.at(section.sh_info, place.r_offset), name);
    }
  }
  std::vector<Reference> references;
  references.reserve(found.size());
  for (const auto& [function, symbol] : found) references.push_back({function, symbol});
  return references;
}

}  // namespace rooflab
