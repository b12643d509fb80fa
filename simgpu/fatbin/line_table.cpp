#include "simgpu/fatbin/line_table.h"

#include <algorithm>
#include <unordered_map>

#include "simgpu/fatbin/byte_reader.h"

// A line program of DWARF 2 ("DWARF Debugging Information Format", section 6.2), whose addresses
// are relative to the code that .rel.nv_debug_line_sass names; from capability 9.0 on it is
// .rela.nv_debug_line_sass, whose entries have a number to add.
namespace simgpu::fatbin {
namespace {

constexpr std::string_view kWhat = "the cubin's table of lines";

/// Bytes that are read one after the other.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes, std::uint64_t at = 0)
      : bytes_(bytes), at_(at) {}

  bool at_end() const { return at_ >= bytes_.size(); }
  std::uint64_t at() const { return at_; }
  void skip(std::uint64_t bytes) {
    slice(bytes_, at_, bytes, kWhat);
    at_ += bytes;
  }

  template <typename Integer>
  Integer next() {
    const auto value = read_integer<Integer>(bytes_, at_, kWhat);
    at_ += sizeof(Integer);
    return value;
  }
  /// LEB128.
  std::uint64_t next_unsigned() { return next_number().value; }
  std::int64_t next_signed() {
    const Number number = next_number();
    const bool negative = (number.last & 0x40U) != 0 && number.bits < 64;
    return static_cast<std::int64_t>(negative ? number.value | (~std::uint64_t{0} << number.bits)
                                              : number.value);
  }

 private:
  struct Number {
    std::uint64_t value;
    unsigned bits, last;
  };
  Number next_number() {
    Number number{};
    do {
      number.last = next<std::uint8_t>();
      if (number.bits < 64) number.value |= std::uint64_t{number.last & 0x7FU} << number.bits;
      number.bits += 7;
    } while ((number.last & 0x80U) != 0);
    return number;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t at_;
};

/// By the place of an address in the table: the section that it is relative to.
using CodeSections = std::unordered_map<std::uint64_t, std::size_t>;

void add_code_sections(const Section* relocations, std::uint64_t entry_bytes,
                       const Section& symbols, CodeSections& by_place) {
  constexpr std::uint64_t kSymbolAt = 12, kSectionOfSymbolAt = 6;
  if (relocations == nullptr) return;
  const std::span<const std::byte> all = relocations->contents;
  for (std::uint64_t at = 0; at + entry_bytes <= all.size(); at += entry_bytes) {
    const std::uint64_t symbol =
        kSymbolBytes * read_integer<std::uint32_t>(all, at + kSymbolAt, kWhat);
    by_place[read_integer<std::uint64_t>(all, at, kWhat)] =
        read_integer<std::uint16_t>(symbols.contents, symbol + kSectionOfSymbolAt, kWhat);
  }
}

CodeSections code_sections(const std::vector<Section>& sections) {
  constexpr std::uint64_t kEntryBytes = 16, kAddendBytes = 8;
  CodeSections by_place;
  const Section* const symbols = symbol_table(sections);
  if (symbols == nullptr) return by_place;
  add_code_sections(section_named(sections, ".rel.nv_debug_line_sass"), kEntryBytes, *symbols,
                    by_place);
  add_code_sections(section_named(sections, ".rela.nv_debug_line_sass"), kEntryBytes + kAddendBytes,
                    *symbols, by_place);
  return by_place;
}

struct Header {
  std::uint8_t least_bytes = 0, line_range = 0, first_special = 0;
  int line_base = 0;
  std::vector<std::uint8_t> operands;  ///< of each standard opcode, from 1
};

/// Runs the program of one unit, whose rows it adds.
class LineProgram {
 public:
  LineProgram(Header header, const CodeSections& places, std::map<std::size_t, LineRows>& rows)
      : header_(std::move(header)), places_(places), rows_(rows) {}

  void run(Reader& reader, std::uint64_t end) {
    while (reader.at() < end) {
      const auto opcode = reader.next<std::uint8_t>();
      if (opcode >= header_.first_special) {
        special(opcode);
      } else if (opcode == 0) {
        extended(reader);
      } else {
        standard(opcode, reader);
      }
    }
  }

 private:
  void special(std::uint8_t opcode) {
    const int adjusted = opcode - header_.first_special;
    address_ += static_cast<std::uint64_t>(adjusted / header_.line_range) * header_.least_bytes;
    line_ += header_.line_base + adjusted % header_.line_range;
    add_row();
  }

  void standard(std::uint8_t opcode, Reader& reader) {
    enum : std::uint8_t { copy = 1, advance_address, advance_line, add_constant = 8, add_fixed };
    switch (opcode) {
      case copy:
        add_row();
        return;
      case advance_address:
        address_ += reader.next_unsigned() * header_.least_bytes;
        return;
      case advance_line:
        line_ += reader.next_signed();
        return;
      case add_constant:
        address_ += static_cast<std::uint64_t>((255 - header_.first_special) / header_.line_range) *
                    header_.least_bytes;
        return;
      case add_fixed:
        address_ += reader.next<std::uint16_t>();
        return;
      default:
        for (int i = 0; i < header_.operands.at(opcode - 1U); ++i) reader.next_unsigned();
    }
  }

  void extended(Reader& reader) {
    enum : std::uint8_t { end_sequence = 1, set_address };
    const std::uint64_t bytes = reader.next_unsigned();
    const std::uint64_t begin = reader.at();
    if (bytes == 0) return;
    const auto opcode = reader.next<std::uint8_t>();
    if (opcode == end_sequence) {
      section_ = nullptr;
      address_ = 0;
      line_ = 1;
    } else if (opcode == set_address) {
      const auto place = places_.find(reader.at());
      address_ = reader.next<std::uint64_t>();
      section_ = place == places_.end() ? nullptr : &rows_[place->second];
    }
    // What is NVIDIA's own tells of inlining, which is nothing here.
    const std::uint64_t read = reader.at() - begin;
    if (read > bytes) throw FatbinError(std::string(kWhat) + " has an entry that is too short");
    reader.skip(bytes - read);
  }

  void add_row() {
    const auto line = static_cast<std::uint32_t>(line_ > 0 && line_ <= 0xFFFFFFFF ? line_ : 0);
    if (section_ != nullptr) section_->push_back({address_, line});
  }

  const Header header_;
  const CodeSections& places_;
  std::map<std::size_t, LineRows>& rows_;
  LineRows* section_ = nullptr;
  std::uint64_t address_ = 0;
  std::int64_t line_ = 1;
};

/// Reads a unit's header, and leaves the reader at its program.
Header read_header(Reader& reader) {
  constexpr unsigned kVersion = 2;
  if (reader.next<std::uint16_t>() != kVersion) {
    throw FatbinError(std::string(kWhat) + " is of an unknown version");
  }
  const std::uint64_t bytes = reader.next<std::uint32_t>();
  const std::uint64_t begin = reader.at();
  Header header;
  header.least_bytes = reader.next<std::uint8_t>();
  reader.skip(1);
  header.line_base = static_cast<std::int8_t>(reader.next<std::uint8_t>());
  header.line_range = reader.next<std::uint8_t>();
  header.first_special = reader.next<std::uint8_t>();
  if (header.line_range == 0 || header.first_special == 0) {
    throw FatbinError(std::string(kWhat) + " has no lines");
  }
  for (int i = 1; i < header.first_special; ++i) {
    header.operands.push_back(reader.next<std::uint8_t>());
  }
  const std::uint64_t read = reader.at() - begin;  // names of files follow
  if (read > bytes) throw FatbinError(std::string(kWhat) + " has a header that is too short");
  reader.skip(bytes - read);
  return header;
}

}  // namespace

std::uint32_t line_at(const LineRows& rows, std::uint64_t address) {
  const auto next = std::ranges::upper_bound(rows, address, {}, &LineRow::address);
  return next == rows.begin() ? 0 : std::prev(next)->line;
}

std::map<std::size_t, LineRows> read_ptx_lines(const std::vector<Section>& sections) {
  std::map<std::size_t, LineRows> rows;
  const Section* const table = section_named(sections, ".nv_debug_line_sass");
  if (table == nullptr) return rows;
  const CodeSections places = code_sections(sections);
  for (Reader reader(table->contents); !reader.at_end();) {
    const std::uint64_t bytes = reader.next<std::uint32_t>();
    const std::uint64_t end = reader.at() + bytes;
    slice(table->contents, reader.at(), bytes, kWhat);
    Header header = read_header(reader);
    LineProgram(std::move(header), places, rows).run(reader, end);
  }
  for (auto& [section, of_section] : rows) {
    std::ranges::stable_sort(of_section, {}, &LineRow::address);
  }
  return rows;
}

}  // namespace simgpu::fatbin
