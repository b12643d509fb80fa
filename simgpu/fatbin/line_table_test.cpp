#include "simgpu/fatbin/line_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace simgpu::fatbin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

/// A unit whose special opcodes are those of ptxas: lines -5 to 8, first one 10.
std::string unit(const std::string& program) {
  const std::string operands("\0\1\1\1\1\0\0\0\1", 9);
  const std::string rest = std::string("\1\1\xfb\x0e\x0a", 5) + operands + std::string(2, '\0');
  const std::string header = little_endian(2, 2) + little_endian(rest.size(), 4) + rest;
  return little_endian(header.size() + program.size(), 4) + header + program;
}

const std::string kSetAddress = std::string("\0\x09\x02", 3) + std::string(8, '\0');
const std::string kEnd("\0\1\1", 3);
constexpr std::uint64_t kHeaderBytes = 4 + 6 + 16;

/// The table, with one relocation for each place in it, to the symbol of this index.
struct Table {
  std::string lines;
  std::string relocations;
  std::string symbols = std::string(24, '\0');

  void relocate(std::uint64_t place, std::uint16_t section) {
    relocations +=
        little_endian(place, 8) + little_endian(2, 4) + little_endian(symbols.size() / 24, 4);
    symbols += std::string(6, '\0') + little_endian(section, 2) + std::string(16, '\0');
  }
  std::map<std::size_t, LineRows> read() const {
    return read_ptx_lines({{.name = ".symtab", .type = 2, .contents = bytes_of(symbols)},
                           {.name = ".nv_debug_line_sass", .contents = bytes_of(lines)},
                           {.name = ".rel.nv_debug_line_sass", .contents = bytes_of(relocations)}});
  }
};

TEST(Lines, AreThoseThatTheProgramCountsThrough) {
  Table table;
  // On by 19 lines; a row; on by 32 bytes and -3 lines, by special opcodes of (bytes, lines).
  table.lines =
      unit(kSetAddress + "\x03\x13" + "\x01" + "\x02\x20" + std::string(1, char(10 + 5 - 3)) +
           std::string(1, char(10 + 14 * 16 + 5 + 2)) + kEnd);
  table.relocate(kHeaderBytes + 3, 7);
  const auto rows = table.read();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THAT(rows.at(7), ElementsAre(LineRow{0, 20}, LineRow{32, 17}, LineRow{48, 19}));
  EXPECT_EQ(line_at(rows.at(7), 0), 20U);
  EXPECT_EQ(line_at(rows.at(7), 31), 20U);
  EXPECT_EQ(line_at(rows.at(7), 32), 17U);
  EXPECT_EQ(line_at(rows.at(7), 4096), 19U);
  EXPECT_EQ(line_at({}, 0), 0U);
}

TEST(Lines, AreRelocatedWithANumberToAddFromCapability90On) {
  Table table;
  table.lines = unit(kSetAddress + "\x03\x13\x01" + kEnd);
  table.relocate(kHeaderBytes + 3, 7);
  const std::string with_addend = table.relocations + std::string(8, '\0');
  const auto rows =
      read_ptx_lines({{.name = ".symtab", .type = 2, .contents = bytes_of(table.symbols)},
                      {.name = ".nv_debug_line_sass", .contents = bytes_of(table.lines)},
                      {.name = ".rela.nv_debug_line_sass", .contents = bytes_of(with_addend)}});
  EXPECT_THAT(rows.at(7), ElementsAre(LineRow{0, 20}));
}

TEST(Lines, OfSeveralKernelsAreApart) {
  Table table;
  const std::string first = unit(kSetAddress + "\x03\x04\x01" + kEnd);
  table.lines =
      first + unit(kSetAddress + "\x03\x7f\x01" + kEnd + kSetAddress + "\x03\x08\x01" + kEnd);
  table.relocate(kHeaderBytes + 3, 5);
  table.relocate(first.size() + kHeaderBytes + 3, 6);
  table.relocate(first.size() + kHeaderBytes + 3 + 8 + 3 + 3 + 3, 8);
  const auto rows = table.read();
  EXPECT_THAT(rows.at(5), ElementsAre(LineRow{0, 5}));
  EXPECT_THAT(rows.at(6), ElementsAre(LineRow{0, 0})) << "a line before the first is unknown";
  EXPECT_THAT(rows.at(8), ElementsAre(LineRow{0, 9}));
}

std::string error_of(const std::string& lines) {
  Table table;
  table.lines = lines;
  try {
    table.read();
  } catch (const FatbinError& error) {
    return error.what();
  }
  return "";
}

TEST(Lines, OfDamagedTablesAreErrors) {
  const std::string good = unit(kSetAddress + "\x03\x13\x01" + kEnd);
  EXPECT_EQ(error_of(good), "");
  for (std::size_t length = 1; length < good.size(); ++length) {
    EXPECT_THAT(error_of(good.substr(0, length)), HasSubstr("table of lines")) << length;
  }
  std::string other = good;
  other[4] = 5;
  EXPECT_EQ(error_of(other), "the cubin's table of lines is of an unknown version");
  std::string no_lines = good;
  no_lines[13] = 0;
  EXPECT_EQ(error_of(no_lines), "the cubin's table of lines has no lines");
}

TEST(Lines, AreNoneWithoutATable) { EXPECT_TRUE(read_ptx_lines({}).empty()); }

}  // namespace
}  // namespace simgpu::fatbin
