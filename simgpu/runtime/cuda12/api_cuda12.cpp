#include <cstddef>

/// Functions that CUDA 12 has beside those of CUDA 13: older forms of some, by way of the newer
/// ones, and what has had another name since CUDA 4. No header of a toolkit is included: those of
/// CUDA 13 declare the same names in other forms.

using cudaError_t = int;
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
struct cudaGraphEdgeData;
struct cudaGraphNodeParams;
struct cudaMemcpyAttributes;
struct cudaMemLocation {
  int type, id;
};

namespace {

/// A device's number as a place in memory.
cudaMemLocation place_of(int device) {
  constexpr int kCpu = -1;  // cudaCpuDeviceId
  constexpr int kOnDevice = 1, kOnHost = 2;
  if (device == kCpu) return {kOnHost, 0};
  return {kOnDevice, device};
}

/// Which copy of a batch failed: none in particular, as CUDA says where the whole call is wrong.
cudaError_t note_failed(cudaError_t error, size_t* failed) {
  if (error != 0 && failed != nullptr) *failed = static_cast<size_t>(-1);
  return error;
}

}  // namespace

extern "C" {

// The forms of CUDA 13, by the names that cuda_version.h gives them.
cudaError_t simgpu_cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t*,
                                            const cudaGraphNode_t*, const cudaGraphEdgeData*,
                                            size_t);
cudaError_t simgpu_cudaGraphAddNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*,
                                    const cudaGraphEdgeData*, size_t, cudaGraphNodeParams*);
cudaError_t simgpu_cudaGraphGetEdges(cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*,
                                     cudaGraphEdgeData*, size_t*);
cudaError_t simgpu_cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t*,
                                                cudaGraphEdgeData*, size_t*);
cudaError_t simgpu_cudaGraphNodeGetDependentNodes(cudaGraphNode_t, cudaGraphNode_t*,
                                                  cudaGraphEdgeData*, size_t*);
cudaError_t simgpu_cudaGraphRemoveDependencies(cudaGraph_t, const cudaGraphNode_t*,
                                               const cudaGraphNode_t*, const cudaGraphEdgeData*,
                                               size_t);
cudaError_t simgpu_cudaMemAdvise(const void*, size_t, int, cudaMemLocation);
cudaError_t simgpu_cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned,
                                        cudaStream_t);
cudaError_t simgpu_cudaMemPrefetchAsync_ptsz(const void*, size_t, cudaMemLocation, unsigned,
                                             cudaStream_t);
cudaError_t simgpu_cudaMemcpyBatchAsync(void**, void**, size_t*, size_t, cudaMemcpyAttributes*,
                                        size_t*, size_t, cudaStream_t);
cudaError_t simgpu_cudaMemcpyBatchAsync_ptsz(void**, void**, size_t*, size_t, cudaMemcpyAttributes*,
                                             size_t*, size_t, cudaStream_t);
cudaError_t simgpu_cudaStreamGetCaptureInfo(cudaStream_t, int*, unsigned long long*, cudaGraph_t*,
                                            const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                            size_t*);
cudaError_t simgpu_cudaStreamGetCaptureInfo_ptsz(cudaStream_t, int*, unsigned long long*,
                                                 cudaGraph_t*, const cudaGraphNode_t**,
                                                 const cudaGraphEdgeData**, size_t*);
cudaError_t simgpu_cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t*,
                                                       const cudaGraphEdgeData*, size_t, unsigned);
cudaError_t simgpu_cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t, cudaGraphNode_t*,
                                                            const cudaGraphEdgeData*, size_t,
                                                            unsigned);

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
  return simgpu_cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, size_t count) {
  return simgpu_cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, size_t count,
                             cudaGraphNodeParams* parameters) {
  return simgpu_cudaGraphAddNode(node, graph, dependencies, nullptr, count, parameters);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              size_t* count) {
  return simgpu_cudaGraphGetEdges(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         size_t* count) {
  return simgpu_cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           size_t* count) {
  return simgpu_cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}

/// As CUDA 10 had it. Headers of CUDA 12 have programs call the next one.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int* status, unsigned long long* id) {
  return simgpu_cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, int* status,
                                          unsigned long long* id) {
  return simgpu_cudaStreamGetCaptureInfo_ptsz(stream, status, id, nullptr, nullptr, nullptr,
                                              nullptr);
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int* status, unsigned long long* id,
                                        cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                        size_t* count) {
  return simgpu_cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, count);
}

cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, int* status,
                                             unsigned long long* id, cudaGraph_t* graph,
                                             const cudaGraphNode_t** dependencies, size_t* count) {
  return simgpu_cudaStreamGetCaptureInfo_ptsz(stream, status, id, graph, dependencies, nullptr,
                                              count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                size_t count, unsigned flags) {
  return simgpu_cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                     size_t count, unsigned flags) {
  return simgpu_cudaStreamUpdateCaptureDependencies_ptsz(stream, nodes, nullptr, count, flags);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, int advice, int device) {
  return simgpu_cudaMemAdvise(pointer, bytes, advice, place_of(device));
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                 cudaStream_t stream) {
  return simgpu_cudaMemPrefetchAsync(pointer, bytes, place_of(device), 0, stream);
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, size_t bytes, int device,
                                      cudaStream_t stream) {
  return simgpu_cudaMemPrefetchAsync_ptsz(pointer, bytes, place_of(device), 0, stream);
}

cudaError_t cudaMemcpyBatchAsync(void** destinations, void** sources, size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* attribute_indices,
                                 size_t attribute_count, size_t* failed, cudaStream_t stream) {
  return note_failed(simgpu_cudaMemcpyBatchAsync(destinations, sources, sizes, count, attributes,
                                                 attribute_indices, attribute_count, stream),
                     failed);
}

cudaError_t cudaMemcpyBatchAsync_ptsz(void** destinations, void** sources, size_t* sizes,
                                      size_t count, cudaMemcpyAttributes* attributes,
                                      size_t* attribute_indices, size_t attribute_count,
                                      size_t* failed, cudaStream_t stream) {
  return note_failed(
      simgpu_cudaMemcpyBatchAsync_ptsz(destinations, sources, sizes, count, attributes,
                                       attribute_indices, attribute_count, stream),
      failed);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

cudaError_t cudaDeviceReset();
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t cudaDeviceSynchronize();
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

cudaError_t cudaDeviceGetLimit(size_t* value, int limit);
cudaError_t cudaThreadGetLimit(size_t* value, int limit) {
  return cudaDeviceGetLimit(value, limit);
}

cudaError_t cudaDeviceSetLimit(int limit, size_t value);
cudaError_t cudaThreadSetLimit(int limit, size_t value) { return cudaDeviceSetLimit(limit, value); }

cudaError_t cudaDeviceGetCacheConfig(int* config);
cudaError_t cudaThreadGetCacheConfig(int* config) { return cudaDeviceGetCacheConfig(config); }

cudaError_t cudaDeviceSetCacheConfig(int config);
cudaError_t cudaThreadSetCacheConfig(int config) { return cudaDeviceSetCacheConfig(config); }

}  // extern "C"
