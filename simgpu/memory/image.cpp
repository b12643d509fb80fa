#include "simgpu/memory/image.h"

#include <algorithm>

namespace simgpu {
namespace {

/// Larger than any GPU's; keeps every product of sizes below 2^63.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 28;  // in a row: linear memory
constexpr std::uint64_t kMostRows = 1u << 17, kMostSlices = 1u << 15;

bool is_known_format(const Image& image) {
  const std::uint32_t bits = image.channel_bits, channels = image.channels;
  const bool sized =
      (bits == 8 || bits == 16 || bits == 32) && (channels == 1 || channels == 2 || channels == 4);
  return sized && static_cast<std::size_t>(image.kind) < kChannelKinds &&
         (image.kind != ChannelKind::floating_point || bits != 8);
}

}  // namespace

bool is_valid(const Image& image) {
  if (!is_known_format(image)) return false;
  const bool sized = image.width >= 1 && image.width <= kMostElements && image.height >= 1 &&
                     image.height <= kMostRows && image.depth >= 1 && image.depth <= kMostSlices;
  if (!sized) return false;
  const std::uint64_t row = std::uint64_t{image.width} * image.element_bytes();
  const bool rows_apart = image.height == 1 || (image.pitch >= row && image.pitch < kMostElements);
  const std::uint64_t slice = image.height == 1 ? row : (image.height - 1) * image.pitch + row;
  const bool slices_apart =
      image.depth == 1 || (image.slice_pitch >= slice && image.slice_pitch < kMostElements * 16);
  const bool modes = std::ranges::all_of(image.outside, [](AddressMode mode) {
    return static_cast<std::size_t>(mode) < kAddressModes;
  });
  const bool integers = image.kind != ChannelKind::floating_point;
  const bool normalized = image.normalized_values == 0 || (integers && image.channel_bits < 32);
  return rows_apart && slices_apart && modes && normalized &&
         (image.linear == 0 || image.reads_floats());
}

std::uint64_t ImageTable::add(const Image& image) {
  if (images_.size() >= kMost) return 0;
  images_[next_] = image;
  return next_++;
}

const Image* ImageTable::find(std::uint64_t handle) const {
  const auto found = images_.find(handle);
  return found == images_.end() ? nullptr : &found->second;
}

}  // namespace simgpu
