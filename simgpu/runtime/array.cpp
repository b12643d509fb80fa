#include "simgpu/runtime/array.h"

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/context.h"
#include "simgpu/runtime/texture_limits.h"

namespace simgpu::runtime {
namespace {

constexpr std::size_t kPitchUnit = 32;
constexpr unsigned kKnownFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;

bool is_within_limits(const cudaExtent& extent, unsigned flags) {
  namespace limits = texture_limits;
  const bool layered = (flags & cudaArrayLayered) != 0, cube = (flags & cudaArrayCubemap) != 0;
  if (cube) {
    const bool faces = layered ? extent.depth % 6 == 0 && extent.depth != 0 : extent.depth == 6;
    return extent.width == extent.height && extent.width <= limits::kCube && faces &&
           extent.depth <= limits::kCubeLayers;
  }
  if (layered) {
    return extent.width <= limits::kLayered && extent.height <= limits::kLayered &&
           extent.depth <= limits::kLayers && extent.depth != 0;
  }
  if (extent.depth != 0) {
    return extent.height != 0 && extent.width <= limits::k3D && extent.height <= limits::k3D &&
           extent.depth <= limits::k3D;
  }
  return extent.width <= limits::k1D && extent.height <= limits::k2DHeight;
}

}  // namespace

cudaArray_t ArrayTable::add(const Array& array) {
  const std::lock_guard lock(mutex_);
  auto entry = std::make_unique<Array>(array);
  const auto handle = reinterpret_cast<cudaArray_t>(entry.get());
  arrays_[handle] = std::move(entry);
  return handle;
}

bool ArrayTable::find(cudaArray_const_t handle, Array* array) {
  const std::lock_guard lock(mutex_);
  const auto found = arrays_.find(handle);
  if (found != arrays_.end()) *array = *found->second;
  return found != arrays_.end();
}

void ArrayTable::remove(cudaArray_const_t handle) {
  const std::lock_guard lock(mutex_);
  arrays_.erase(handle);
}

void ArrayTable::clear() {
  const std::lock_guard lock(mutex_);
  arrays_.clear();
}

int channels_of(const cudaChannelFormatDesc& format) {
  return (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0);
}

bool is_texel(const cudaChannelFormatDesc& format) {
  const bool sized = format.x == 8 || format.x == 16 || format.x == 32;
  const bool equal = (format.y == 0 || format.y == format.x) &&
                     (format.z == 0 || format.z == format.x) &&
                     (format.w == 0 || format.w == format.x);
  const int channels = channels_of(format);
  const bool filled = channels == 1 || (channels == 2 && format.y != 0) || channels == 4;
  const bool known = format.f == cudaChannelFormatKindSigned ||
                     format.f == cudaChannelFormatKindUnsigned ||
                     (format.f == cudaChannelFormatKindFloat && format.x != 8);
  return sized && equal && filled && known;
}

int make_array(cudaArray_t* handle, const cudaChannelFormatDesc* format, cudaExtent extent,
               unsigned flags) {
  if (handle == nullptr || format == nullptr || extent.width == 0) return cudaErrorInvalidValue;
  if (!is_texel(*format)) return cudaErrorInvalidChannelDescriptor;
  if ((flags & ~kKnownFlags) != 0) return refuse("cudaMalloc3DArray", "these flags");
  if (!is_within_limits(extent, flags)) return cudaErrorInvalidValue;
  Array array{.format = *format, .extent = extent, .flags = flags};
  array.pitch = (array.row_bytes() + kPitchUnit - 1) / kPitchUnit * kPitchUnit;
  const Reply reply =
      Client::instance().ask(GuestOperation::allocate_array, std::uint64_t{array.bytes()});
  if (!reply.ok()) return reply.error;
  array.address = reply.reader().get<std::uint64_t>();
  *handle = Context::get<ArrayTable>().add(array);
  return cudaSuccess;
}

int free_array(cudaArray_t handle) {
  if (handle == nullptr) return cudaSuccess;
  Array array;
  if (!find_array(handle, &array)) return cudaErrorInvalidResourceHandle;
  Context::get<ArrayTable>().remove(handle);
  return Client::instance().ask(GuestOperation::release, array.address).error;
}

bool find_array(cudaArray_const_t handle, Array* array) {
  return Context::get<ArrayTable>().find(handle, array);
}

}  // namespace simgpu::runtime
