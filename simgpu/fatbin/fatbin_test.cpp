#include "simgpu/fatbin/fatbin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu::fatbin {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;

template <typename Integer>
void append(std::string& bytes, Integer value) {
  for (std::size_t index = 0; index < sizeof(Integer); ++index) {
    bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * index)));
  }
}

/// An entry as nvcc writes it; tests bend single fields.
struct EntryParts {
  std::uint16_t kind = 1;
  std::uint32_t header_bytes = 64;
  std::string payload;
  std::uint32_t compressed_bytes = 0;
  std::uint32_t architecture = 80;
  std::uint64_t flags = 0x11;
  std::uint64_t uncompressed_bytes = 0;
};

std::string entry_bytes(EntryParts parts) {
  parts.payload.resize((parts.payload.size() + 7) / 8 * 8);
  std::string bytes;
  append(bytes, parts.kind);
  append(bytes, std::uint16_t{0x101});
  append(bytes, parts.header_bytes);
  append(bytes, std::uint64_t{parts.payload.size()});
  append(bytes, parts.compressed_bytes);
  append(bytes, std::uint64_t{0});
  append(bytes, parts.architecture);
  append(bytes, std::uint64_t{0});
  append(bytes, parts.flags);
  append(bytes, std::uint64_t{0});
  append(bytes, parts.uncompressed_bytes);
  bytes.resize(std::max<std::size_t>(parts.header_bytes, 64));
  return bytes + parts.payload;
}

std::string container_bytes(const std::string& entries) {
  std::string bytes;
  append(bytes, std::uint32_t{0xBA55ED50});
  append(bytes, std::uint16_t{1});
  append(bytes, std::uint16_t{16});
  append(bytes, std::uint64_t{entries.size()});
  return bytes + entries;
}

EntryParts zstd_entry(const std::string& text) {
  EntryParts parts{.payload = std::string(ZSTD_compressBound(text.size()), '\0')};
  parts.payload.resize(
      ZSTD_compress(parts.payload.data(), parts.payload.size(), text.data(), text.size(), 3));
  parts.compressed_bytes = static_cast<std::uint32_t>(parts.payload.size());
  parts.flags |= kZstd;
  parts.uncompressed_bytes = text.size();
  return parts;
}

EntryParts lz4_entry(const std::string& text) {
  const int size = static_cast<int>(text.size());
  EntryParts parts{.payload = std::string(LZ4_compressBound(size), '\0')};
  parts.payload.resize(LZ4_compress_default(text.data(), parts.payload.data(), size,
                                            static_cast<int>(parts.payload.size())));
  parts.compressed_bytes = static_cast<std::uint32_t>(parts.payload.size());
  parts.flags |= kLz4;
  parts.uncompressed_bytes = text.size();
  return parts;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(const Image& image) {
  return {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()};
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const FatbinError& error) {
    return error.what();
  }
  return "";
}

std::string read_error(const std::string& container, std::size_t max_bytes = 1U << 20) {
  return error_of([&] { read(bytes_of(container), max_bytes); });
}

const std::string& long_text() {
  static const std::string text = [] {
    std::string lines = ".version 9.0\n";
    for (int line = 0; line < 500; ++line)
      lines += "add.s32 %r" + std::to_string(line) + ", 1, 2;\n";
    return lines;
  }();
  return text;
}

TEST(Read, GivesEachImageInOrder) {
  const auto images = read(bytes_of(container_bytes(
      entry_bytes({.kind = 2,
                   .header_bytes = 72,
                   .payload = "\x7f"
                              "ELF1234",
                   .architecture = 80}) +
      entry_bytes({.header_bytes = 112, .payload = ".version 9.0\n", .architecture = 90}))));
  ASSERT_EQ(images.size(), 2U);
  EXPECT_EQ(images[0].kind, Image::Kind::elf);
  EXPECT_EQ(images[0].architecture, 80U);
  EXPECT_EQ(images[0].payload.size(), 8U);
  EXPECT_EQ(images[1].kind, Image::Kind::ptx);
  EXPECT_EQ(images[1].architecture, 90U);
  EXPECT_EQ(text_of(images[1]), ".version 9.0\n") << "padding is no part of the text";
}

TEST(Read, UnpacksZstdAndLz4) {
  const auto images = read(bytes_of(
      container_bytes(entry_bytes(zstd_entry(long_text())) + entry_bytes(lz4_entry(long_text())))));
  ASSERT_EQ(images.size(), 2U);
  EXPECT_EQ(text_of(images[0]), long_text());
  EXPECT_EQ(text_of(images[1]), long_text());
}

TEST(Read, PassesOverKindsThatCannotRun) {
  const auto images = read(bytes_of(
      container_bytes(entry_bytes({.kind = 16, .payload = "?"}) + entry_bytes({.payload = "x"}))));
  ASSERT_EQ(images.size(), 1U);
  EXPECT_EQ(text_of(images[0]), "x");
}

TEST(Read, IgnoresWhatFollowsTheContainer) {
  const std::string container = container_bytes(entry_bytes({.payload = "x"}));
  EXPECT_EQ(read(bytes_of(container + "garbage")).size(), 1U);
}

TEST(ContainerSize, CountsTheHeader) {
  const std::string container = container_bytes(entry_bytes({.payload = "12345678"}));
  EXPECT_EQ(container_size(bytes_of(container).first<16>()), container.size());
}

TEST(Read, SaysWhatIsMalformed) {
  EXPECT_THAT(read_error(""), HasSubstr("the container's header reaches past the end"));
  EXPECT_EQ(read_error(std::string(16, 'x')),
            "not a fat binary: it begins with 0x78787878 instead of 0xba55ed50");
  std::string newer = container_bytes("");
  newer[4] = 7;
  EXPECT_EQ(read_error(newer), "fat binary of version 7; only version 1 is known");
  EXPECT_THAT(read_error(container_bytes("short")), HasSubstr("an entry of the fat binary"));
  const std::string whole = container_bytes(entry_bytes({.payload = "12345678"}));
  EXPECT_THAT(read_error(whole.substr(0, whole.size() - 1)), HasSubstr("past the end of the file"));
  EXPECT_THAT(read_error(container_bytes(entry_bytes({.header_bytes = 8, .payload = "x"}))),
              HasSubstr("claims 8 bytes; it has at least 64"));
}

TEST(Read, RefusesDamagedPayloads) {
  EntryParts zstd = zstd_entry(long_text());
  zstd.payload[0] = 'X';
  EXPECT_THAT(read_error(container_bytes(entry_bytes(zstd))), HasSubstr("zstd payload is damaged"));
  EntryParts lz4 = lz4_entry(long_text());
  lz4.payload = std::string(lz4.payload.size(), '\xff');
  EXPECT_THAT(read_error(container_bytes(entry_bytes(lz4))), HasSubstr("LZ4 payload is damaged"));
  EntryParts long_claim = lz4_entry("short");
  long_claim.compressed_bytes = 100;
  EXPECT_THAT(read_error(container_bytes(entry_bytes(long_claim))),
              HasSubstr("compressed payload"));
}

TEST(Read, RefusesMoreBytesThanAllowed) {
  EntryParts liar = zstd_entry(long_text());
  liar.uncompressed_bytes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(read_error(container_bytes(entry_bytes(liar))), HasSubstr("unpacks to too much"));
  EntryParts impossible = lz4_entry("short");
  impossible.uncompressed_bytes = 1U << 19;
  EXPECT_THAT(read_error(container_bytes(entry_bytes(impossible))), HasSubstr("cannot unpack to"));
  const std::string entry = entry_bytes(zstd_entry(long_text()));
  EXPECT_EQ(read_error(container_bytes(entry), long_text().size()), "");
  EXPECT_THAT(read_error(container_bytes(entry + entry), 2 * long_text().size() - 1),
              HasSubstr("unpacks to too much"))
      << "the limit holds for all images together";
}

TEST(Read, RefusesEntriesThatUnpackToLessThanTheyClaim) {
  for (EntryParts boast : {zstd_entry(long_text()), lz4_entry(long_text())}) {
    boast.uncompressed_bytes += 1;
    EXPECT_THAT(read_error(container_bytes(entry_bytes(boast))), HasSubstr("unpacks to"))
        << "what is claimed is held in memory, and only what is there is counted";
  }
}

TEST(ContainerSize, RefusesASizeBeyondAllAddresses) {
  std::string header = container_bytes("");
  for (std::size_t byte = 8; byte < 16; ++byte) header[byte] = '\xff';
  EXPECT_THAT(error_of([&] { container_size(bytes_of(header).first<16>()); }),
              HasSubstr("more bytes than there are addresses"));
}

struct SectionParts {
  std::string name;
  std::uint32_t type = 1;
  std::string contents;
  std::uint32_t link = 0;
};

/// An ELF64 file with these sections; the last one added holds their names.
std::string elf_bytes(std::vector<SectionParts> sections) {
  std::string names(1, '\0');
  sections.push_back({.name = ".shstrtab", .type = 3, .contents = ""});
  for (const SectionParts& section : sections) names += section.name + '\0';
  sections.back().contents = names;
  std::string contents, headers;
  std::uint32_t name_at = 1;
  for (const SectionParts& section : sections) {
    append(headers, name_at);
    append(headers, section.type);
    headers.resize(headers.size() + 16);
    append(headers, std::uint64_t{64 + contents.size()});
    append(headers, std::uint64_t{section.contents.size()});
    append(headers, section.link);
    headers.resize(headers.size() + 20);
    name_at += static_cast<std::uint32_t>(section.name.size() + 1);
    contents += section.contents;
  }
  std::string elf =
      "\x7f"
      "ELF\x02\x01";
  elf.resize(40);
  append(elf, std::uint64_t{64 + contents.size()});  // of the section table
  elf.resize(58);
  append(elf, std::uint16_t{64});
  append(elf, static_cast<std::uint16_t>(sections.size()));
  append(elf, static_cast<std::uint16_t>(sections.size() - 1));
  return elf + contents + headers;
}

/// A symbol of a kernel whose code is in section 1.
std::string symbol_bytes(std::uint32_t name_at) {
  std::string bytes;
  append(bytes, name_at);
  append(bytes, std::uint8_t{2});     // a function
  append(bytes, std::uint8_t{0x10});  // that the host can launch
  append(bytes, std::uint16_t{1});
  bytes.resize(24);
  return bytes;
}

std::string resources_error(const std::string& elf) {
  return error_of([&] { read_resources(bytes_of(elf)); });
}

TEST(Resources, AreThoseOfTheNamedKernels) {
  const SectionParts names{
      .name = ".strtab", .type = 3, .contents = std::string("\0one\0two\0", 9)};
  const std::string elf = elf_bytes(
      {names,
       {.name = ".symtab", .type = 2, .contents = symbol_bytes(1) + symbol_bytes(5), .link = 0},
       {.name = ".nv.shared.two", .type = 8, .contents = std::string(48, 'x')}});
  const auto resources = read_resources(bytes_of(elf));
  ASSERT_EQ(resources.size(), 2U);
  EXPECT_EQ(resources.at("one").static_shared_bytes, 0U);
  EXPECT_EQ(resources.at("two").static_shared_bytes, 48U);
}

TEST(Resources, RefuseMillionsOfNamesInAFewBytes) {
  const SectionParts names{.name = ".strtab", .type = 3, .contents = std::string(1000, 'x') + '\0'};
  std::string symbols;
  for (std::uint32_t at = 0; at < 500; ++at) symbols += symbol_bytes(at);
  EXPECT_EQ(resources_error(
                elf_bytes({names, {.name = ".symtab", .type = 2, .contents = symbols, .link = 0}})),
            "the names of the cubin's kernels overlap");
}

TEST(Resources, RefuseASecondTable) {
  const SectionParts symbols{.name = ".symtab", .type = 2, .contents = ""};
  EXPECT_EQ(resources_error(elf_bytes({symbols, symbols})),
            "the cubin has section '.symtab' twice");
  const SectionParts info{.name = ".nv.info", .contents = ""};
  EXPECT_EQ(resources_error(elf_bytes({symbols, info, info})),
            "the cubin has section '.nv.info' twice");
}

TEST(Resources, NeedAnElfFile) {
  EXPECT_THAT(error_of([] { read_resources({}); }), HasSubstr("the cubin's header"));
  const std::string text(64, 'x');
  EXPECT_EQ(error_of([&] { read_resources(bytes_of(text)); }),
            "the machine code is not a little-endian ELF64 file");
}

}  // namespace
}  // namespace simgpu::fatbin
