#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace simgpu {

/// What lies outside an image in one direction: cudaTextureAddressMode.
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };
inline constexpr std::size_t kAddressModes = 4;

/// What an element's channels hold.
enum class ChannelKind : std::uint8_t { signed_integer, unsigned_integer, floating_point };
inline constexpr std::size_t kChannelKinds = 3;

/// How kernels see memory as a texture or surface. Elements lie in rows `pitch` apart, rows in
/// slices `slice_pitch` apart; a slice is a layer, or a face of a cube, where there are such.
/// Trivially copyable: it travels from the guest as it is, and is believed only after is_valid().
struct Image {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0, slice_pitch = 0;        ///< bytes
  std::uint32_t width = 1, height = 1, depth = 1;  ///< elements; depth counts all slices
  std::uint32_t channels = 1;                      ///< 1, 2 or 4
  std::uint32_t channel_bits = 32;                 ///< 8, 16 or 32
  ChannelKind kind = ChannelKind::floating_point;  ///< of every channel
  std::uint8_t is_surface = 0;                     ///< for suld and sust, and not for tex
  std::uint8_t linear = 0;                         ///< interpolates between elements
  std::uint8_t normalized_coordinates = 0;         ///< 0 to 1 is the whole image
  std::uint8_t normalized_values = 0;              ///< integers are read as -1 to 1, or 0 to 1
  std::uint8_t zero_outside = 0;                   ///< linear memory: no address mode, no border
  std::array<AddressMode, 3> outside{};            ///< in x, y and z
  std::array<float, 4> border{};

  std::uint32_t element_bytes() const { return channels * channel_bits / 8; }
  /// From the first element to behind the last.
  std::uint64_t bytes() const {
    return (depth - 1) * slice_pitch + (height - 1) * pitch +
           std::uint64_t{width} * element_bytes();
  }
  bool reads_floats() const {
    return kind == ChannelKind::floating_point || normalized_values != 0;
  }
};

/// Whether all of it makes sense, but for where the memory is: sizes, format, modes.
bool is_valid(const Image& image);

/// The texture and surface objects of a device, by the handle that kernels have.
class ImageTable {
 public:
  static constexpr std::size_t kMost = 65536;

  /// @param image for which is_valid() holds. @returns its handle, or 0 when there are too many
  std::uint64_t add(const Image& image);
  bool remove(std::uint64_t handle) { return images_.erase(handle) == 1; }
  const Image* find(std::uint64_t handle) const;
  void clear() { images_.clear(); }
  std::size_t count() const { return images_.size(); }

 private:
  std::map<std::uint64_t, Image> images_;
  std::uint64_t next_ = 1;
};

}  // namespace simgpu
