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

void fill_texture_limits(cudaDeviceProp& properties);
/// The same as an attribute; 0 for those that are about something else.
int texture_attribute(cudaDeviceAttr attribute);

}  // namespace simgpu::runtime
