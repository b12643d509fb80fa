#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "simgpu/runtime/cuda_12_8.h"
#include "simgpu/runtime/library_version.h"

/// The runtime of every major version of CUDA is made of this folder's objects, whichever toolkit's
/// headers they were compiled with (docs/design/cuda-versions.md). What differs is here, in
/// device_properties.h, and in the folders cuda12/ and cuda13/.
#if CUDART_VERSION < 12040 || CUDART_VERSION >= 14000
#error "simgpu is compiled with the headers of CUDA 12.4 to 13.x"
#endif

namespace simgpu::runtime {

inline bool is_cuda_12() { return simgpu_cuda_version < 13000; }

// Structures that CUDA 13 has made longer, in bytes.
inline constexpr std::size_t kPointerAttributesBytes12 = 24, kPointerAttributesBytes13 = 88;
inline constexpr std::size_t kResourceBytes12 = 64, kResourceBytes13 = 144;
inline std::size_t pointer_attributes_bytes() {
  return is_cuda_12() ? kPointerAttributesBytes12 : kPointerAttributesBytes13;
}
inline std::size_t resource_bytes() { return is_cuda_12() ? kResourceBytes12 : kResourceBytes13; }
static_assert(sizeof(cudaPointerAttributes) ==
              (CUDART_VERSION < 13000 ? kPointerAttributesBytes12 : kPointerAttributesBytes13));
static_assert(sizeof(cudaResourceDesc) ==
              (CUDART_VERSION < 13000 ? kResourceBytes12 : kResourceBytes13));

}  // namespace simgpu::runtime

// Functions whose form is not that of all versions. They are defined in the form of CUDA 13, under
// names of our own; exported_names.txt of cuda12/ and cuda13/ says what programs call them.
#undef cudaGetDeviceProperties
#undef cudaStreamGetCaptureInfo
#define cudaGetDeviceProperties simgpu_cudaGetDeviceProperties
#define cudaGraphAddDependencies simgpu_cudaGraphAddDependencies
#define cudaGraphAddNode simgpu_cudaGraphAddNode
#define cudaGraphGetEdges simgpu_cudaGraphGetEdges
#define cudaGraphNodeGetDependencies simgpu_cudaGraphNodeGetDependencies
#define cudaGraphNodeGetDependentNodes simgpu_cudaGraphNodeGetDependentNodes
#define cudaGraphRemoveDependencies simgpu_cudaGraphRemoveDependencies
#define cudaMemAdvise simgpu_cudaMemAdvise
#define cudaMemPrefetchAsync simgpu_cudaMemPrefetchAsync
#define cudaMemPrefetchAsync_ptsz simgpu_cudaMemPrefetchAsync_ptsz
#define cudaMemcpyBatchAsync simgpu_cudaMemcpyBatchAsync
#define cudaMemcpyBatchAsync_ptsz simgpu_cudaMemcpyBatchAsync_ptsz
#define cudaStreamGetCaptureInfo simgpu_cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo_ptsz simgpu_cudaStreamGetCaptureInfo_ptsz
#define cudaStreamUpdateCaptureDependencies simgpu_cudaStreamUpdateCaptureDependencies
#define cudaStreamUpdateCaptureDependencies_ptsz simgpu_cudaStreamUpdateCaptureDependencies_ptsz
