#include <algorithm>

#include "simgpu/memory/image.h"
#include "simgpu/runtime/api.h"
#include "simgpu/runtime/context.h"
#include "simgpu/runtime/texture_limits.h"

/// Texture and surface objects. The device process keeps what kernels need to know of them.
namespace simgpu::runtime {
namespace {

void set_format(const cudaChannelFormatDesc& format, Image* image) {
  image->channels = static_cast<std::uint32_t>(channels_of(format));
  image->channel_bits = static_cast<std::uint32_t>(format.x);
  image->kind = format.f == cudaChannelFormatKindSigned     ? ChannelKind::signed_integer
                : format.f == cudaChannelFormatKindUnsigned ? ChannelKind::unsigned_integer
                                                            : ChannelKind::floating_point;
}

int image_of_array(cudaArray_t handle, Image* image) {
  Array array;
  if (!find_array(handle, &array)) return cudaErrorInvalidResourceHandle;
  set_format(array.format, image);
  image->address = array.address;
  image->pitch = array.pitch;
  image->slice_pitch = array.pitch * array.rows();
  image->width = static_cast<std::uint32_t>(array.extent.width);
  image->height = static_cast<std::uint32_t>(array.rows());
  image->depth = static_cast<std::uint32_t>(array.slices());
  return cudaSuccess;
}

int image_of_linear(const cudaResourceDesc& resource, Image* image) {
  const auto& linear = resource.res.linear;
  if (!is_texel(linear.desc)) return cudaErrorInvalidChannelDescriptor;
  set_format(linear.desc, image);
  const size_t elements = linear.sizeInBytes / image->element_bytes();
  if (elements == 0 || elements > texture_limits::k1DLinear) return cudaErrorInvalidValue;
  image->address = address_of(linear.devPtr);
  image->width = static_cast<std::uint32_t>(elements);
  image->zero_outside = 1;
  return cudaSuccess;
}

int image_of_pitched(const cudaResourceDesc& resource, Image* image) {
  const auto& pitched = resource.res.pitch2D;
  if (!is_texel(pitched.desc)) return cudaErrorInvalidChannelDescriptor;
  set_format(pitched.desc, image);
  namespace limits = texture_limits;
  const bool sized = pitched.width >= 1 && pitched.width <= limits::k2DWidth &&
                     pitched.height >= 1 && pitched.height <= limits::k2DLinearHeight &&
                     pitched.pitchInBytes <= limits::k2DLinearPitchBytes;
  if (!sized) return cudaErrorInvalidValue;
  constexpr size_t kPitchAlignment = 32, kAlignment = 512;
  if (pitched.pitchInBytes % kPitchAlignment != 0 || address_of(pitched.devPtr) % kAlignment != 0) {
    return cudaErrorInvalidValue;
  }
  image->address = address_of(pitched.devPtr);
  image->pitch = pitched.pitchInBytes;
  image->width = static_cast<std::uint32_t>(pitched.width);
  image->height = static_cast<std::uint32_t>(pitched.height);
  return cudaSuccess;
}

int image_of(const char* function, const cudaResourceDesc& resource, Image* image) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return image_of_array(resource.res.array.array, image);
    case cudaResourceTypeLinear:
      return image_of_linear(resource, image);
    case cudaResourceTypePitch2D:
      return image_of_pitched(resource, image);
    case cudaResourceTypeMipmappedArray:
      return refuse(function, "a mipmapped array");
    default:
      return cudaErrorInvalidValue;
  }
}

int set_sampling(const cudaTextureDesc& texture, Image* image) {
  if (texture.sRGB != 0) return refuse("cudaCreateTextureObject", "sRGB");
  for (size_t axis = 0; axis < image->outside.size(); ++axis) {
    const cudaTextureAddressMode mode = texture.addressMode[axis];
    if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return cudaErrorInvalidValue;
    image->outside[axis] = mode == cudaAddressModeWrap     ? AddressMode::wrap
                           : mode == cudaAddressModeClamp  ? AddressMode::clamp
                           : mode == cudaAddressModeMirror ? AddressMode::mirror
                                                           : AddressMode::border;
  }
  const bool integers = image->kind != ChannelKind::floating_point;
  const bool normalized = texture.readMode == cudaReadModeNormalizedFloat && integers;
  if (normalized && image->channel_bits == 32) return cudaErrorInvalidNormSetting;
  image->normalized_values = normalized ? 1 : 0;
  image->linear = texture.filterMode == cudaFilterModeLinear && image->zero_outside == 0 ? 1 : 0;
  if (image->linear != 0 && !image->reads_floats()) return cudaErrorInvalidFilterSetting;
  image->normalized_coordinates = texture.normalizedCoords != 0 ? 1 : 0;
  std::copy_n(texture.borderColor, image->border.size(), image->border.begin());
  return cudaSuccess;
}

int create(const Image& image, const TextureDescription& description, unsigned long long* handle) {
  const Reply reply = Client::instance().ask(GuestOperation::image_create, image);
  if (!reply.ok()) return reply.error;
  *handle = reply.reader().get<std::uint64_t>();
  Context::get<TextureTable>().add(*handle, description);
  return cudaSuccess;
}

TextureDescription description_of(const cudaResourceDesc* resource, const cudaTextureDesc& texture,
                                  bool is_surface) {
  TextureDescription description{.texture = texture, .is_surface = is_surface};
  std::memcpy(&description.resource, resource,
              std::min(resource_bytes(), sizeof description.resource));
  return description;
}

int create_texture(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                   const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  if (handle == nullptr || resource == nullptr || texture == nullptr) return cudaErrorInvalidValue;
  if (view != nullptr) return refuse("cudaCreateTextureObject", "a resource view");
  Image image;
  int error = image_of("cudaCreateTextureObject", *resource, &image);
  if (error == 0) error = set_sampling(*texture, &image);
  return error != 0 ? error : create(image, description_of(resource, *texture, false), handle);
}

int create_surface(cudaSurfaceObject_t* handle, const cudaResourceDesc* resource) {
  if (handle == nullptr || resource == nullptr) return cudaErrorInvalidValue;
  if (resource->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
  Array array;
  if (!find_array(resource->res.array.array, &array)) return cudaErrorInvalidResourceHandle;
  if ((array.flags & cudaArraySurfaceLoadStore) == 0) return cudaErrorInvalidValue;
  Image image{.is_surface = 1};
  const int error = image_of_array(resource->res.array.array, &image);
  return error != 0 ? error : create(image, description_of(resource, {}, true), handle);
}

int destroy(std::uint64_t handle, bool is_surface) {
  if (handle == 0) return cudaSuccess;
  TextureDescription description;
  if (!Context::get<TextureTable>().find(handle, is_surface, &description)) {
    return cudaErrorInvalidValue;
  }
  Context::get<TextureTable>().remove(handle);
  return Client::instance().ask(GuestOperation::image_destroy, handle).error;
}

/// @param bytes how long the part is in the program
template <typename Part>
int describe(std::uint64_t handle, bool is_surface, Part TextureDescription::*part, Part* to,
             size_t bytes) {
  TextureDescription description;
  if (to == nullptr || !Context::get<TextureTable>().find(handle, is_surface, &description)) {
    return cudaErrorInvalidValue;
  }
  std::memset(static_cast<void*>(to), 0, bytes);
  std::memcpy(static_cast<void*>(to), &(description.*part), std::min(bytes, sizeof(Part)));
  return cudaSuccess;
}

int describe_resource(std::uint64_t handle, bool is_surface, cudaResourceDesc* to) {
  return describe(handle, is_surface, &TextureDescription::resource, to, resource_bytes());
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::TextureDescription;

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view) {
  return api([&] { return runtime::create_texture(texture, resource, description, view); });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return api([&] { return runtime::destroy(texture, false); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  return api([&] { return runtime::describe_resource(texture, false, resource); });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture) {
  return api([&] {
    return runtime::describe(texture, false, &TextureDescription::texture, description,
                             sizeof *description);
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
  return api([&] { return runtime::create_surface(surface, resource); });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return api([&] { return runtime::destroy(surface, true); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface) {
  return api([&] { return runtime::describe_resource(surface, true, resource); });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements,
                                                 const cudaChannelFormatDesc* format, int device) {
  return api([&] {
    if (elements == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    if (!runtime::is_texel(*format)) return cudaErrorInvalidChannelDescriptor;
    *elements = runtime::texture_limits::k1DLinear;
    return cudaSuccess;
  });
}

}  // extern "C"
