#include "simgpu/runtime/texture_limits.h"

namespace simgpu::runtime {

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
