#include "simgpu/runtime/texture_limits.h"

namespace simgpu::runtime {

void fill_texture_limits(cudaDeviceProp& to) {
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

int texture_attribute(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxTexture1DWidth:
      return texture_limits::k1D;
    case cudaDevAttrMaxSurface1DWidth:
      return texture_limits::kSurface1D;
    case cudaDevAttrMaxTexture1DLinearWidth:
      return texture_limits::k1DLinear;
    case cudaDevAttrMaxTexture2DWidth:
    case cudaDevAttrMaxTexture2DLinearWidth:
    case cudaDevAttrMaxSurface2DWidth:
      return texture_limits::k2DWidth;
    case cudaDevAttrMaxTexture2DHeight:
    case cudaDevAttrMaxSurface2DHeight:
      return texture_limits::k2DHeight;
    case cudaDevAttrMaxTexture2DLinearHeight:
      return texture_limits::k2DLinearHeight;
    case cudaDevAttrMaxTexture2DLinearPitch:
      return texture_limits::k2DLinearPitchBytes;
    case cudaDevAttrMaxTexture3DWidth:
    case cudaDevAttrMaxTexture3DHeight:
    case cudaDevAttrMaxTexture3DDepth:
    case cudaDevAttrMaxSurface3DWidth:
    case cudaDevAttrMaxSurface3DHeight:
    case cudaDevAttrMaxSurface3DDepth:
      return texture_limits::k3D;
    case cudaDevAttrMaxTexture1DLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredHeight:
    case cudaDevAttrMaxSurface1DLayeredWidth:
    case cudaDevAttrMaxSurface2DLayeredWidth:
    case cudaDevAttrMaxSurface2DLayeredHeight:
      return texture_limits::kLayered;
    case cudaDevAttrMaxTexture1DLayeredLayers:
    case cudaDevAttrMaxTexture2DLayeredLayers:
    case cudaDevAttrMaxSurface1DLayeredLayers:
    case cudaDevAttrMaxSurface2DLayeredLayers:
      return texture_limits::kLayers;
    case cudaDevAttrMaxTextureCubemapWidth:
    case cudaDevAttrMaxTextureCubemapLayeredWidth:
      return texture_limits::kCube;
    case cudaDevAttrMaxTextureCubemapLayeredLayers:
      return texture_limits::kCubeLayers;
    default:
      return 0;
  }
}

}  // namespace simgpu::runtime
