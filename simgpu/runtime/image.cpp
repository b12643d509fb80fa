#include "simgpu/runtime/image.h"

#include <cstdint>
#include <cstring>
#include <fstream>

#include "simgpu/device/protocol.h"

namespace simgpu::runtime {
namespace {

/// What __cudaRegisterFatBinary is given; the layout that nvcc emits.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* data;
  const void* file_name;
};
constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
constexpr std::uint32_t kElfMagic = 0x464C457F;

/// Container header: u32 magic, u16 version, u16 header bytes, u64 payload bytes.
std::size_t container_bytes(const std::byte* container) {
  std::uint16_t header = 0;
  std::uint64_t payload = 0;
  std::memcpy(&header, container + 6, sizeof header);
  std::memcpy(&payload, container + 8, sizeof payload);
  return payload > protocol::kMaxImageBytes ? 0 : header + payload;
}

}  // namespace

const std::byte* container_of(const void* wrapper) {
  Wrapper contents{};
  std::memcpy(&contents, wrapper, sizeof contents);
  return contents.magic == kWrapperMagic ? contents.data : nullptr;
}

bool is_device_linked(const void* wrapper) {
  constexpr std::uint32_t kLinked = 2;
  Wrapper contents{};
  std::memcpy(&contents, wrapper, sizeof contents);
  return contents.magic == kWrapperMagic && contents.version == kLinked;
}

std::span<const std::byte> image_at(const std::byte* code) {
  // Text may be shorter than a number: byte by byte, as far as it matches.
  const auto starts_with = [code](std::uint32_t magic) {
    for (unsigned i = 0; i < sizeof magic; ++i) {
      if (code[i] != static_cast<std::byte>(magic >> (8 * i))) return false;
    }
    return true;
  };
  if (starts_with(kWrapperMagic)) {
    const std::byte* container = container_of(code);
    return container == nullptr ? std::span<const std::byte>() : image_at(container);
  }
  if (starts_with(kContainerMagic)) return {code, container_bytes(code)};
  // The device cannot run machine code; its first bytes are enough to say so.
  if (starts_with(kElfMagic)) return {code, sizeof kElfMagic};
  const std::size_t most = protocol::kMaxImageBytes;
  const std::size_t length = strnlen(reinterpret_cast<const char*>(code), most + 1);
  return {code, length > most ? 0 : length};
}

bool read_image(const char* file, std::vector<std::byte>* image) {
  std::ifstream stream(file, std::ios::binary);
  image->resize(protocol::kMaxImageBytes);
  if (!stream) return false;
  stream.read(reinterpret_cast<char*>(image->data()), static_cast<std::streamsize>(image->size()));
  image->resize(static_cast<std::size_t>(stream.gcount()));
  return !stream.bad();
}

}  // namespace simgpu::runtime
