#include "simgpu/runtime/copy_3d.h"

#include <algorithm>
#include <cstdint>

#include "simgpu/runtime/array.h"

namespace simgpu::runtime {
namespace {

bool is_empty(const cudaExtent& extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

/// Whether offsets in `slices` slices of the memory can be computed at all.
bool is_sensible(const cudaPitchedPtr& memory, size_t slices) {
  constexpr size_t kMost = size_t{1} << 40;
  return memory.pitch <= kMost && memory.ysize <= kMost && slices <= kMost &&
         (memory.pitch == 0 || memory.ysize <= kMost / memory.pitch) &&
         (memory.pitch == 0 || memory.ysize == 0 ||
          slices <= kMost / (memory.pitch * memory.ysize));
}

/// The row where slice `slice` of a copy begins.
std::byte* slice_of(const cudaPitchedPtr& memory, const cudaPos& position, size_t slice) {
  return static_cast<std::byte*>(memory.ptr) + position.x +
         memory.pitch * (position.y + memory.ysize * (position.z + slice));
}

/// One side of a copy that is an array, as the memory that it lies in.
int resolve_array(cudaArray_const_t handle, cudaPitchedPtr* memory, cudaPos* position,
                  const cudaExtent& extent, size_t* element_bytes) {
  if (handle == nullptr) return cudaSuccess;
  Array array;
  if (!find_array(handle, &array)) return cudaErrorInvalidResourceHandle;
  const auto inside = [](size_t from, size_t count, size_t all) {
    return from <= all && count <= all - from;
  };
  if (!inside(position->x, extent.width, array.extent.width) ||
      !inside(position->y, extent.height, array.rows()) ||
      !inside(position->z, extent.depth, array.slices())) {
    return cudaErrorInvalidValue;
  }
  *memory = array.memory();
  *element_bytes = array.element_bytes();
  position->x *= *element_bytes;
  return cudaSuccess;
}

/// With an array on a side, widths count its elements; then there are only bytes.
int resolve_arrays(cudaMemcpy3DParms* parameters) {
  const cudaExtent extent = parameters->extent;
  size_t from_bytes = 0, to_bytes = 0;
  int error = resolve_array(parameters->srcArray, &parameters->srcPtr, &parameters->srcPos, extent,
                            &from_bytes);
  if (error != 0) return error;
  error = resolve_array(parameters->dstArray, &parameters->dstPtr, &parameters->dstPos, extent,
                        &to_bytes);
  if (error != 0) return error;
  if (from_bytes != 0 && to_bytes != 0 && from_bytes != to_bytes) return cudaErrorInvalidValue;
  const size_t element = std::max({from_bytes, to_bytes, size_t{1}});
  if (extent.width > SIZE_MAX / element) return cudaErrorInvalidValue;
  parameters->extent.width *= element;
  return cudaSuccess;
}

int slices_of_memory(const cudaMemcpy3DParms& parameters, cudaStream_t stream, bool asynchronous,
                     std::vector<Copy>* copies) {
  const cudaExtent& extent = parameters.extent;
  if (is_empty(extent)) return cudaSuccess;
  const cudaPitchedPtr &from = parameters.srcPtr, &to = parameters.dstPtr;
  if (from.ptr == nullptr || to.ptr == nullptr) return cudaErrorInvalidValue;
  if (extent.width > from.pitch || extent.width > to.pitch) return cudaErrorInvalidPitchValue;
  const bool sensible = is_sensible(from, parameters.srcPos.z + extent.depth) &&
                        is_sensible(to, parameters.dstPos.z + extent.depth);
  const bool apart = extent.depth > 1 && (from.ysize < extent.height || to.ysize < extent.height);
  if (!sensible || apart) return cudaErrorInvalidValue;
  const bool whole =
      extent.depth == 1 || (from.ysize == extent.height && to.ysize == extent.height);
  for (size_t slice = 0; slice < (whole ? 1 : extent.depth); ++slice) {
    copies->push_back({.destination = slice_of(to, parameters.dstPos, slice),
                       .destination_pitch = to.pitch,
                       .source = slice_of(from, parameters.srcPos, slice),
                       .source_pitch = from.pitch,
                       .width = extent.width,
                       .height = whole ? extent.height * extent.depth : extent.height,
                       .kind = parameters.kind,
                       .stream = stream,
                       .asynchronous = asynchronous});
  }
  return cudaSuccess;
}

}  // namespace

int slices_of(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool asynchronous,
              std::vector<Copy>* copies) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  cudaMemcpy3DParms flat = *parameters;
  if (const int error = resolve_arrays(&flat); error != 0) return error;
  return slices_of_memory(flat, stream, asynchronous, copies);
}

int slices_of(const cudaPitchedPtr& memory, int value, const cudaExtent& extent,
              cudaStream_t stream, bool asynchronous, std::vector<Fill>* fills) {
  if (is_empty(extent)) return cudaSuccess;
  if (memory.ptr == nullptr || extent.width > memory.pitch || !is_sensible(memory, extent.depth) ||
      (extent.depth > 1 && memory.ysize < extent.height)) {
    return cudaErrorInvalidValue;
  }
  const bool whole = extent.depth == 1 || memory.ysize == extent.height;
  for (size_t slice = 0; slice < (whole ? 1 : extent.depth); ++slice) {
    fills->push_back({.destination = slice_of(memory, {}, slice),
                      .pitch = memory.pitch,
                      .value = static_cast<unsigned>(value) & 0xFFu,
                      .width = extent.width,
                      .height = whole ? extent.height * extent.depth : extent.height,
                      .stream = stream,
                      .asynchronous = asynchronous});
  }
  return cudaSuccess;
}

}  // namespace simgpu::runtime
