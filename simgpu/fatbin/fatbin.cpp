#include "simgpu/fatbin/fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "simgpu/fatbin/byte_reader.h"

namespace simgpu::fatbin {
namespace {

// The layout was read off the output of nvcc 13.0.88 in all its compression modes.
constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kSmallestContainerHeader = 16;
constexpr std::size_t kSmallestEntryHeader = 64;
constexpr std::uint16_t kKindPtx = 1;
constexpr std::uint16_t kKindElf = 2;
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::uint64_t kBestLz4Ratio = 255;  // of its block format: no payload unpacks to more

struct ContainerHeader {
  std::size_t header_bytes = 0;
  std::size_t payload_bytes = 0;
};

ContainerHeader read_container_header(std::span<const std::byte> bytes) {
  constexpr std::string_view kWhat = "the container's header";
  const auto magic = read_integer<std::uint32_t>(bytes, 0, kWhat);
  if (magic != kMagic) {
    throw FatbinError(fmt::format("not a fat binary: it begins with {:#010x} instead of {:#010x}",
                                  magic, kMagic));
  }
  const auto version = read_integer<std::uint16_t>(bytes, 4, kWhat);
  if (version != kVersion) {
    throw FatbinError(
        fmt::format("fat binary of version {}; only version {} is known", version, kVersion));
  }
  const auto header_bytes = read_integer<std::uint16_t>(bytes, 6, kWhat);
  const auto payload_bytes = read_integer<std::uint64_t>(bytes, 8, kWhat);
  if (header_bytes < kSmallestContainerHeader) {
    throw FatbinError(fmt::format("the container's header claims {} bytes; it has at least {}",
                                  header_bytes, kSmallestContainerHeader));
  }
  if (payload_bytes > std::numeric_limits<std::size_t>::max() - header_bytes) {
    throw FatbinError("the container claims more bytes than there are addresses");
  }
  return {.header_bytes = header_bytes, .payload_bytes = static_cast<std::size_t>(payload_bytes)};
}

struct Entry {
  std::uint16_t kind = 0;
  std::uint32_t architecture = 0;
  std::uint64_t flags = 0;
  std::uint64_t uncompressed_bytes = 0;
  std::span<const std::byte> payload;  ///< of a compressed one, without the padding
  std::size_t total_bytes = 0;
};

/// The entry at the start of `bytes`, which end with the container.
Entry read_entry(std::span<const std::byte> bytes) {
  constexpr std::string_view kWhat = "an entry of the fat binary";
  const auto header_bytes = read_integer<std::uint32_t>(bytes, 4, kWhat);
  const auto padded_bytes = read_integer<std::uint64_t>(bytes, 8, kWhat);
  if (header_bytes < kSmallestEntryHeader) {
    throw FatbinError(fmt::format("an entry's header claims {} bytes; it has at least {}",
                                  header_bytes, kSmallestEntryHeader));
  }
  Entry entry;
  entry.kind = read_integer<std::uint16_t>(bytes, 0, kWhat);
  entry.architecture = read_integer<std::uint32_t>(bytes, 28, kWhat);
  entry.flags = read_integer<std::uint64_t>(bytes, 40, kWhat);
  entry.uncompressed_bytes = read_integer<std::uint64_t>(bytes, 56, kWhat);
  entry.payload = slice(bytes, header_bytes, padded_bytes, kWhat);
  entry.total_bytes = header_bytes + entry.payload.size();
  if ((entry.flags & (kFlagLz4 | kFlagZstd)) != 0) {
    const auto compressed_bytes = read_integer<std::uint32_t>(bytes, 16, kWhat);
    entry.payload = slice(entry.payload, 0, compressed_bytes, "an entry's compressed payload");
  }
  return entry;
}

/// An entry that unpacks to less than it claims would hold memory that nobody counts.
void require_size(const Entry& entry, std::size_t produced) {
  if (produced == entry.uncompressed_bytes) return;
  throw FatbinError(fmt::format("an entry claims {} bytes and unpacks to {}",
                                entry.uncompressed_bytes, produced));
}

std::vector<std::byte> decompress_zstd(const Entry& entry) {
  std::vector<std::byte> result(static_cast<std::size_t>(entry.uncompressed_bytes));
  const std::size_t produced =
      ZSTD_decompress(result.data(), result.size(), entry.payload.data(), entry.payload.size());
  if (ZSTD_isError(produced) != 0U) {
    throw FatbinError(
        fmt::format("an entry's zstd payload is damaged: {}", ZSTD_getErrorName(produced)));
  }
  require_size(entry, produced);
  return result;
}

std::vector<std::byte> decompress_lz4(const Entry& entry) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  const std::uint64_t possible = entry.payload.size() * kBestLz4Ratio;
  if (entry.uncompressed_bytes > possible || entry.uncompressed_bytes > kMost ||
      entry.payload.size() > kMost) {
    throw FatbinError(fmt::format("an entry's LZ4 payload of {} bytes cannot unpack to {} bytes",
                                  entry.payload.size(), entry.uncompressed_bytes));
  }
  std::vector<std::byte> result(static_cast<std::size_t>(entry.uncompressed_bytes));
  const int produced = LZ4_decompress_safe(
      reinterpret_cast<const char*>(entry.payload.data()), reinterpret_cast<char*>(result.data()),
      static_cast<int>(entry.payload.size()), static_cast<int>(result.size()));
  if (produced < 0) throw FatbinError("an entry's LZ4 payload is damaged");
  require_size(entry, static_cast<std::size_t>(produced));
  return result;
}

std::vector<std::byte> unpack(const Entry& entry, std::size_t bytes_left) {
  const bool is_zstd = (entry.flags & kFlagZstd) != 0;
  const bool is_lz4 = (entry.flags & kFlagLz4) != 0;
  const std::uint64_t needed = is_zstd || is_lz4 ? entry.uncompressed_bytes : entry.payload.size();
  if (needed > bytes_left) {
    throw TooLarge(
        fmt::format("the fat binary unpacks to too much: its next entry has {} bytes, of which at "
                    "most {} may be used",
                    needed, bytes_left));
  }
  if (is_zstd) return decompress_zstd(entry);
  if (is_lz4) return decompress_lz4(entry);
  return {entry.payload.begin(), entry.payload.end()};
}

void drop_trailing_nuls(std::vector<std::byte>& text) {
  while (!text.empty() && text.back() == std::byte{0}) text.pop_back();
}

}  // namespace

std::vector<Image> read(std::span<const std::byte> container, std::size_t max_bytes) {
  const ContainerHeader header = read_container_header(container);
  const auto entries =
      slice(container, header.header_bytes, header.payload_bytes, "the fat binary");
  std::vector<Image> images;
  std::size_t bytes_left = max_bytes;
  for (std::size_t offset = 0; offset < entries.size();) {
    const Entry entry = read_entry(entries.subspan(offset));
    offset += entry.total_bytes;
    // Newer kinds, such as intermediate code for linking, are no images to run.
    if (entry.kind != kKindPtx && entry.kind != kKindElf) continue;
    Image image;
    image.kind = entry.kind == kKindPtx ? Image::Kind::ptx : Image::Kind::elf;
    image.architecture = entry.architecture;
    image.payload = unpack(entry, bytes_left);
    bytes_left -= image.payload.size();
    if (image.kind == Image::Kind::ptx) drop_trailing_nuls(image.payload);
    images.push_back(std::move(image));
  }
  return images;
}

std::size_t container_size(std::span<const std::byte, 16> header) {
  const ContainerHeader parsed = read_container_header(header);
  return parsed.header_bytes + parsed.payload_bytes;
}

const Image* newest_ptx(const std::vector<Image>& images, unsigned capability) {
  const Image* best = nullptr;
  for (const Image& image : images) {
    if (image.kind != Image::Kind::ptx || image.architecture > capability) continue;
    if (best == nullptr || image.architecture >= best->architecture) best = &image;
  }
  return best;
}

}  // namespace simgpu::fatbin
