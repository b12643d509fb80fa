#include <vector>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/copy_3d.h"
#include "simgpu/runtime/submit.h"

/// Three-dimensional copies and fills, and lists of copies.
namespace simgpu::runtime {
namespace {

template <typename Work>
int submit_all(const std::vector<Work>& works) {
  for (const Work& work : works) {
    if (const int error = submit(work); error != 0) return error;
  }
  return cudaSuccess;
}

cudaError_t copy(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool asynchronous) {
  return api([&] {
    std::vector<Copy> copies;
    const int error = slices_of(parameters, stream, asynchronous, &copies);
    return error != 0 ? error : submit_all(copies);
  });
}

cudaError_t fill(const cudaPitchedPtr& memory, int value, const cudaExtent& extent,
                 cudaStream_t stream, bool asynchronous) {
  return api([&] {
    std::vector<Fill> fills;
    const int error = slices_of(memory, value, extent, stream, asynchronous, &fills);
    return error != 0 ? error : submit_all(fills);
  });
}

/// Between devices: there is one.
cudaError_t copy_peer(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream,
                      bool asynchronous) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  if (parameters->srcDevice != 0 || parameters->dstDevice != 0) {
    return record(cudaErrorInvalidDevice);
  }
  const cudaMemcpy3DParms own{.srcArray = parameters->srcArray,
                              .srcPos = parameters->srcPos,
                              .srcPtr = parameters->srcPtr,
                              .dstArray = parameters->dstArray,
                              .dstPos = parameters->dstPos,
                              .dstPtr = parameters->dstPtr,
                              .extent = parameters->extent,
                              .kind = cudaMemcpyDefault};
  return copy(&own, stream, asynchronous);
}

/// Attributes say how a copy's source may be read early, which nothing here does.
int copy_batch(void* const* destinations, const void* const* sources, const size_t* sizes,
               size_t count, const size_t* attribute_indices, size_t attributes,
               cudaStream_t stream) {
  if (destinations == nullptr || sources == nullptr || sizes == nullptr || count == 0) {
    return cudaErrorInvalidValue;
  }
  if (attributes == 0 || attributes > count || attribute_indices == nullptr ||
      attribute_indices[0] != 0) {
    return cudaErrorInvalidValue;
  }
  std::vector<Copy> copies;
  for (size_t i = 0; i < count; ++i) {
    if (sizes[i] == 0) return cudaErrorInvalidValue;
    copies.push_back({.destination = destinations[i],
                      .destination_pitch = sizes[i],
                      .source = sources[i],
                      .source_pitch = sizes[i],
                      .width = sizes[i],
                      .stream = stream,
                      .asynchronous = true});
  }
  return submit_all(copies);
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::copy;
using runtime::copy_peer;
using runtime::fill;
using runtime::per_thread;

extern "C" {

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy(parameters, nullptr, false);
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* parameters) {
  return copy(parameters, cudaStreamPerThread, false);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy(parameters, stream, true);
}

cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return cudaMemcpy3DAsync(parameters, per_thread(stream));
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return copy_peer(parameters, nullptr, false);
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* parameters) {
  return copy_peer(parameters, cudaStreamPerThread, false);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return copy_peer(parameters, stream, true);
}

cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* parameters,
                                       cudaStream_t stream) {
  return cudaMemcpy3DPeerAsync(parameters, per_thread(stream));
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return fill(memory, value, extent, nullptr, false);
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return fill(memory, value, extent, cudaStreamPerThread, false);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return fill(memory, value, extent, stream, true);
}

cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr memory, int value, cudaExtent extent,
                                   cudaStream_t stream) {
  return cudaMemset3DAsync(memory, value, extent, per_thread(stream));
}

cudaError_t cudaMemcpyBatchAsync(void* const* destinations, const void* const* sources,
                                 const size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* /*attributes*/, size_t* attribute_indices,
                                 size_t attribute_count, cudaStream_t stream) {
  return api([&] {
    return runtime::copy_batch(destinations, sources, sizes, count, attribute_indices,
                               attribute_count, stream);
  });
}

cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* destinations, const void* const* sources,
                                      const size_t* sizes, size_t count,
                                      cudaMemcpyAttributes* attributes, size_t* attribute_indices,
                                      size_t attribute_count, cudaStream_t stream) {
  return cudaMemcpyBatchAsync(destinations, sources, sizes, count, attributes, attribute_indices,
                              attribute_count, per_thread(stream));
}

}  // extern "C"
