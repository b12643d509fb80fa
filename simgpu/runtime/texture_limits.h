#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

/// The largest textures and surfaces of compute capability 7.5 to 9.0: "CUDA C++ Programming
/// Guide", "Technical Specifications per Compute Capability". In elements.
namespace simgpu::runtime {
namespace texture_limits {

inline constexpr std::size_t k1D = 131072, kSurface1D = 32768, k1DLinear = std::size_t{1} << 28;
inline constexpr std::size_t k2DWidth = 131072, k2DHeight = 65536;
inline constexpr std::size_t k2DLinearHeight = 65000, k2DLinearPitchBytes = 2097120;
inline constexpr std::size_t k3D = 16384;
inline constexpr std::size_t kLayered = 32768, kLayers = 2048;
inline constexpr std::size_t kCube = 32768, kCubeLayers = 2046;

}  // namespace texture_limits

/// @param to a cudaDeviceProp, of any version
template <typename DeviceProperties>
void fill_texture_limits(DeviceProperties& to) {
  namespace limits = texture_limits;
  to.maxTexture1D = static_cast<int>(limits::k1D);
  to.maxSurface1D = static_cast<int>(limits::kSurface1D);
  to.maxTexture2D[0] = to.maxSurface2D[0] = to.maxTexture2DLinear[0] =
      static_cast<int>(limits::k2DWidth);
  to.maxTexture2D[1] = to.maxSurface2D[1] = static_cast<int>(limits::k2DHeight);
  to.maxTexture2DLinear[1] = static_cast<int>(limits::k2DLinearHeight);
  to.maxTexture2DLinear[2] = static_cast<int>(limits::k2DLinearPitchBytes);
  for (int axis = 0; axis < 3; ++axis) {
    to.maxTexture3D[axis] = to.maxSurface3D[axis] = static_cast<int>(limits::k3D);
  }
  to.maxTexture1DLayered[0] = to.maxSurface1DLayered[0] = static_cast<int>(limits::kLayered);
  to.maxTexture1DLayered[1] = to.maxSurface1DLayered[1] = static_cast<int>(limits::kLayers);
  for (int axis = 0; axis < 2; ++axis) {
    to.maxTexture2DLayered[axis] = to.maxSurface2DLayered[axis] =
        static_cast<int>(limits::kLayered);
  }
  to.maxTexture2DLayered[2] = to.maxSurface2DLayered[2] = static_cast<int>(limits::kLayers);
  to.maxTextureCubemap = to.maxTextureCubemapLayered[0] = static_cast<int>(limits::kCube);
  to.maxTextureCubemapLayered[1] = static_cast<int>(limits::kCubeLayers);
}

/// The same as an attribute; 0 for those that are about something else.
int texture_attribute(cudaDeviceAttr attribute);

}  // namespace simgpu::runtime
