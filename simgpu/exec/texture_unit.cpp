#include "simgpu/exec/texture_unit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "simgpu/arith/half.h"

namespace simgpu {
namespace {

/// Which element of `size` index `at` means; -1 is the border.
std::int64_t folded(std::int64_t at, std::int64_t size, AddressMode mode) {
  if (at >= 0 && at < size) return at;  // as nearly all are; a division takes long
  switch (mode) {
    case AddressMode::wrap:
      return (at % size + size) % size;
    case AddressMode::mirror: {
      const std::int64_t period = 2 * size;
      const std::int64_t place = (at % period + period) % period;
      return place < size ? place : period - 1 - place;
    }
    case AddressMode::clamp:
      return std::clamp<std::int64_t>(at, 0, size - 1);
    default:
      return -1;
  }
}

/// A coordinate far outside stays far outside; not a number is 0.
std::int64_t whole(float value) {
  constexpr float kFar = 1e12f;
  if (std::isnan(value)) return 0;
  return static_cast<std::int64_t>(std::floor(std::clamp(value, -kFar, kFar)));
}

/// What a fetch reads in one direction: one element, or two with their weights.
struct Line {
  std::array<std::int64_t, 2> element{};
  std::array<float, 2> weight{1, 0};
  unsigned count = 1;
};

Line line_of(const Image& image, const TexturePosition& position, unsigned axis,
             std::uint32_t size) {
  // Wrapping and mirroring are for coordinates from 0 to 1; with others the image's edge goes on.
  AddressMode mode = image.outside[axis];
  const bool folds = mode == AddressMode::wrap || mode == AddressMode::mirror;
  if (folds && image.normalized_coordinates == 0) mode = AddressMode::clamp;
  if (image.zero_outside != 0) mode = AddressMode::border;
  Line line;
  if (position.has_integers) {
    line.element[0] = folded(position.element[axis], size, mode);
    return line;
  }
  float at = position.at[axis];
  if (image.normalized_coordinates != 0) {
    if (mode == AddressMode::wrap) at -= std::floor(at);
    at *= static_cast<float>(size);
  }
  if (image.linear == 0) {
    line.element[0] = folded(whole(at), size, mode);
    return line;
  }
  const float shifted = at - 0.5f;
  const std::int64_t first = whole(shifted);
  const float fraction = shifted - static_cast<float>(first);
  constexpr float kSteps = 256;  // the hardware's weights have 8 fractional bits
  const float weight = std::isfinite(fraction)
                           ? std::clamp(std::round(fraction * kSteps) / kSteps, 0.0f, 1.0f)
                           : 0.0f;
  line.element = {folded(first, size, mode), folded(first + 1, size, mode)};
  line.weight = {1 - weight, weight};
  line.count = 2;
  return line;
}

float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t as_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// The largest value of a channel of integers, which reads as 1 where integers read as floats.
float largest_integer(const Image& image) {
  const bool is_signed = image.kind == ChannelKind::signed_integer;
  const unsigned bits = image.channel_bits - (is_signed ? 1 : 0);
  return static_cast<float>((std::uint64_t{1} << bits) - 1);
}

/// An integer of as many bits as a channel has, widened by its sign where it has one.
std::uint32_t widened(const Image& image, std::uint32_t raw) {
  const unsigned unused = 32 - image.channel_bits;
  if (image.kind != ChannelKind::signed_integer) return raw << unused >> unused;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(raw << unused) >> unused);
}

/// What a channel of the border reads as, as an H200 has it: the colour has the precision of the
/// channel, and where integers read as integers its float's bits are the integer's.
std::uint32_t border_of(const Image& image, float colour) {
  if (image.zero_outside != 0) return 0;
  if (image.kind == ChannelKind::floating_point) return as_bits(colour);
  if (image.normalized_values == 0) return widened(image, as_bits(colour));
  if (std::isnan(colour)) return 0;
  const float least = image.kind == ChannelKind::signed_integer ? -1.0f : 0.0f;
  const float largest = largest_integer(image);
  return as_bits(std::round(std::clamp(colour, least, 1.0f) * largest) / largest);
}

/// One channel, widened to 32 bits or, where that is asked for, to a float.
std::uint32_t channel_of(const Image& image, const std::byte* at) {
  std::uint32_t raw = 0;
  if (image.channel_bits == 32) {  // a size that the compiler knows is a move
    std::memcpy(&raw, at, 4);
  } else {
    std::memcpy(&raw, at, image.channel_bits == 16 ? 2 : 1);
  }
  if (image.kind == ChannelKind::floating_point) {
    return image.channel_bits == 32 ? raw
                                    : as_bits(arith::f16_to_f32(static_cast<std::uint16_t>(raw)));
  }
  const std::uint32_t wide = widened(image, raw);
  if (image.normalized_values == 0) return wide;
  const float largest = largest_integer(image);
  if (image.kind != ChannelKind::signed_integer) return as_bits(static_cast<float>(wide) / largest);
  const auto value = static_cast<float>(static_cast<std::int32_t>(wide));
  return as_bits(std::max(value / largest, -1.0f));
}

std::uint64_t offset_of(const Image& image, std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<std::uint64_t>(z) * image.slice_pitch +
         static_cast<std::uint64_t>(y) * image.pitch +
         static_cast<std::uint64_t>(x) * image.element_bytes();
}

}  // namespace

Tap nearest_tap(const Image& image, const TexturePosition& position) {
  const std::int64_t x = line_of(image, position, 0, image.width).element[0];
  const std::int64_t y =
      position.dimensions > 1 ? line_of(image, position, 1, image.height).element[0] : 0;
  const std::int64_t z = position.dimensions > 2
                             ? line_of(image, position, 2, image.depth).element[0]
                             : std::min(position.slice, image.depth - 1);
  Tap tap;
  tap.outside = x < 0 || y < 0 || z < 0;
  if (!tap.outside) tap.offset = offset_of(image, x, y, z);
  return tap;
}

Taps taps_of(const Image& image, const TexturePosition& position) {
  const Line x = line_of(image, position, 0, image.width);
  const Line y = position.dimensions > 1 ? line_of(image, position, 1, image.height) : Line{};
  Line z = position.dimensions > 2 ? line_of(image, position, 2, image.depth) : Line{};
  if (position.dimensions <= 2) z.element[0] = std::min(position.slice, image.depth - 1);
  Taps taps;
  for (unsigned k = 0; k < z.count; ++k) {
    for (unsigned j = 0; j < y.count; ++j) {
      for (unsigned i = 0; i < x.count; ++i) {
        Tap& tap = taps.tap[taps.count++];
        tap.outside = x.element[i] < 0 || y.element[j] < 0 || z.element[k] < 0;
        tap.weight = x.weight[i] * y.weight[j] * z.weight[k];
        if (tap.outside) continue;
        tap.offset = offset_of(image, x.element[i], y.element[j], z.element[k]);
      }
    }
  }
  return taps;
}

TextureValue value_of(const Image& image, const std::byte* element) {
  TextureValue value;
  for (std::uint32_t i = 0; i < image.channels; ++i) {
    value.bits[i] = element == nullptr ? border_of(image, image.border[i])
                                       : channel_of(image, element + i * (image.channel_bits / 8));
  }
  return value;
}

TextureValue blend(const Image& image, const Taps& taps,
                   const std::array<TextureValue, 8>& values) {
  if (image.linear == 0 || taps.count == 1) return values[0];
  TextureValue sum = values[0];
  for (std::uint32_t channel = 0; channel < image.channels; ++channel) {
    float total = 0;
    for (unsigned i = 0; i < taps.count; ++i) {
      // A weight of 0 hides what its element holds, infinities too.
      if (taps.tap[i].weight != 0) total += taps.tap[i].weight * as_float(values[i].bits[channel]);
    }
    sum.bits[channel] = as_bits(total);
  }
  return sum;
}

CubePlace cube_place(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  std::uint32_t face = 0;
  float major = 0, s = 0, t = 0;
  if (ax >= ay && ax >= az) {
    face = x < 0 ? 1 : 0;
    major = ax;
    s = x < 0 ? z : -z;
    t = -y;
  } else if (ay >= az) {
    face = y < 0 ? 3 : 2;
    major = ay;
    s = x;
    t = y < 0 ? -z : z;
  } else {
    face = z < 0 ? 5 : 4;
    major = az;
    s = z < 0 ? -x : x;
    t = -y;
  }
  if (!(major > 0)) return {face, 0, 0};
  return {face, (s / major + 1) / 2, (t / major + 1) / 2};
}

}  // namespace simgpu
