#include <algorithm>
#include <vector>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/array.h"
#include "simgpu/runtime/submit.h"

/// Arrays, and copies into and out of them.
namespace simgpu::runtime {
namespace {

int allocate(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
             unsigned flags) {
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  if (const int error = permit_unsafe(); error != 0) return error;
  return make_array(array, format, extent, flags);
}

/// `width` bytes of `height` rows from byte `x` of row `y` on.
int rectangle(cudaArray_const_t handle, size_t x, size_t y, size_t width, size_t height,
              Array* array, std::byte** at) {
  if (!find_array(handle, array)) return cudaErrorInvalidResourceHandle;
  const bool inside = x <= array->row_bytes() && width <= array->row_bytes() - x &&
                      y <= array->rows() && height <= array->rows() - y;
  if (!inside) return cudaErrorInvalidValue;
  *at = reinterpret_cast<std::byte*>(array->address) + y * array->pitch + x;
  return cudaSuccess;
}

struct Rectangle {
  size_t x = 0, y = 0, width = 0, height = 1;
};

/// The other side of a copy from or to an array.
struct Other {
  std::byte* at = nullptr;
  size_t pitch = 0;
};

int copy(cudaArray_const_t handle, const Rectangle& part, bool to_array, Other other,
         cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
  Array array;
  std::byte* inside = nullptr;
  const int error = rectangle(handle, part.x, part.y, part.width, part.height, &array, &inside);
  if (error != 0) return error;
  return submit<Copy>({.destination = to_array ? inside : other.at,
                       .destination_pitch = to_array ? array.pitch : other.pitch,
                       .source = to_array ? other.at : inside,
                       .source_pitch = to_array ? other.pitch : array.pitch,
                       .width = part.width,
                       .height = part.height,
                       .kind = kind,
                       .stream = stream,
                       .asynchronous = asynchronous});
}

/// Bytes that follow each other on the other side, and go on at the next row in the array.
int copy_run(cudaArray_const_t handle, size_t x, size_t y, bool to_array, std::byte* other,
             size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
  Array array;
  if (!find_array(handle, &array)) return cudaErrorInvalidResourceHandle;
  const size_t row = array.row_bytes();
  while (bytes > 0) {
    if (x >= row) return cudaErrorInvalidValue;
    Rectangle part{x, y, std::min(bytes, row - x), 1};
    if (part.width == row) part.height = bytes / row;
    const int error = copy(handle, part, to_array, {other, part.width}, kind, stream, asynchronous);
    if (error != 0) return error;
    other += part.width * part.height;
    bytes -= part.width * part.height;
    y += part.height;
    x = 0;
  }
  return cudaSuccess;
}

int copy_between(cudaArray_const_t destination, size_t to_x, size_t to_y, cudaArray_const_t source,
                 size_t from_x, size_t from_y, size_t width, size_t height, cudaMemcpyKind kind) {
  Array from;
  std::byte* at = nullptr;
  const int error = rectangle(source, from_x, from_y, width, height, &from, &at);
  if (error != 0) return error;
  return copy(destination, {to_x, to_y, width, height}, true, {at, from.pitch}, kind, nullptr,
              false);
}

std::byte* bytes_at(const void* pointer) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(pointer));
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::bytes_at;
using runtime::copy;
using runtime::copy_run;
using runtime::per_thread;

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned flags) {
  return api([&] { return runtime::allocate(array, format, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return api([&] { return runtime::allocate(array, format, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return api([&] {
    if (const int error = runtime::permit_unsafe(); error != 0) return error;
    return runtime::free_array(array);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t handle) {
  return api([&] {
    runtime::Array array;
    if (!runtime::find_array(handle, &array)) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = array.format;
    if (extent != nullptr) *extent = array.extent;
    if (flags != nullptr) *flags = array.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (format == nullptr) return runtime::record(cudaErrorInvalidValue);
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void* source,
                                size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return api([&] {
    return copy(array, {x, y, width, height}, true, {bytes_at(source), pitch}, kind, nullptr,
                false);
  });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, size_t x, size_t y, const void* source,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return api([&] {
    return copy(array, {x, y, width, height}, true, {bytes_at(source), pitch}, kind, stream, true);
  });
}

cudaError_t cudaMemcpy2DFromArray(void* destination, size_t pitch, cudaArray_const_t array,
                                  size_t x, size_t y, size_t width, size_t height,
                                  cudaMemcpyKind kind) {
  return api([&] {
    return copy(array, {x, y, width, height}, false, {bytes_at(destination), pitch}, kind, nullptr,
                false);
  });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* destination, size_t pitch, cudaArray_const_t array,
                                       size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] {
    return copy(array, {x, y, width, height}, false, {bytes_at(destination), pitch}, kind, stream,
                true);
  });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t to_x, size_t to_y,
                                     cudaArray_const_t source, size_t from_x, size_t from_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  return api([&] {
    return runtime::copy_between(destination, to_x, to_y, source, from_x, from_y, width, height,
                                 kind);
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x, size_t y, const void* source,
                              size_t bytes, cudaMemcpyKind kind) {
  return api(
      [&] { return copy_run(array, x, y, true, bytes_at(source), bytes, kind, nullptr, false); });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t array, size_t x, size_t y, const void* source,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return api(
      [&] { return copy_run(array, x, y, true, bytes_at(source), bytes, kind, stream, true); });
}

cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t array, size_t x, size_t y,
                                size_t bytes, cudaMemcpyKind kind) {
  return api([&] {
    return copy_run(array, x, y, false, bytes_at(destination), bytes, kind, nullptr, false);
  });
}

cudaError_t cudaMemcpyFromArrayAsync(void* destination, cudaArray_const_t array, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] {
    return copy_run(array, x, y, false, bytes_at(destination), bytes, kind, stream, true);
  });
}

}  // extern "C"
