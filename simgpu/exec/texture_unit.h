#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simgpu/memory/image.h"

/// What a texture unit computes: which elements a fetch reads and what becomes of them. Formulas:
/// "CUDA C++ Programming Guide", "Texture Fetching".
namespace simgpu {

/// What a fetch names, in the image's own coordinates.
struct TexturePosition {
  std::array<float, 3> at{};              ///< x, y, z
  std::array<std::int64_t, 3> element{};  ///< the same, of integer coordinates
  bool has_integers = false;
  unsigned dimensions = 1;
  std::uint32_t slice = 0;  ///< layer or face; 0 where z is a coordinate
};

/// One element that a fetch reads.
struct Tap {
  std::uint64_t offset = 0;  ///< bytes from the image's address
  float weight = 1;
  bool outside = false;  ///< the border's colour, and nothing is read
};

struct Taps {
  std::array<Tap, 8> tap;
  unsigned count = 0;
};

/// The element that a fetch of an image that is not linear reads.
Tap nearest_tap(const Image& image, const TexturePosition& position);
/// The elements that a fetch reads: one, or 2, 4 or 8 between which it interpolates, with weights
/// of 8 fractional bits.
Taps taps_of(const Image& image, const TexturePosition& position);

/// Four channels as a fetch gives them; those that an element lacks are 0.
struct TextureValue {
  std::array<std::uint32_t, 4> bits{};  ///< float or integer
};

/// An element as it is read. @param element nullptr: the border
TextureValue value_of(const Image& image, const std::byte* element);
/// The sum of the weighted taps. @param values one for each tap
TextureValue blend(const Image& image, const Taps& taps, const std::array<TextureValue, 8>& values);

/// The face that a direction points to, and where on it: 0 to 1.
struct CubePlace {
  std::uint32_t face = 0;
  float s = 0, t = 0;
};
CubePlace cube_place(float x, float y, float z);

}  // namespace simgpu
