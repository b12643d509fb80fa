#include <cstring>

#include "simgpu/runtime/api_graph.h"
#include "simgpu/runtime/graph_params.h"

/// Nodes that allocate and free, and what memory graphs hold.
namespace simgpu::runtime {
namespace {

int get_attribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (value == nullptr) return cudaErrorInvalidValue;
  if (device != 0) return cudaErrorInvalidDevice;
  const GraphMemoryUse use = Context::get<GraphMemoryTable>().use();
  std::uint64_t bytes = 0;
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
    case cudaGraphMemAttrReservedMemCurrent:
      bytes = use.bytes;
      break;
    case cudaGraphMemAttrUsedMemHigh:
    case cudaGraphMemAttrReservedMemHigh:
      bytes = use.most;
      break;
    default:
      return cudaErrorInvalidValue;
  }
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}

/// A high-water mark goes back to now alone.
int set_attribute(int device, cudaGraphMemAttributeType attribute, const void* value) {
  std::uint64_t bytes = 1;
  if (value != nullptr) std::memcpy(&bytes, value, sizeof bytes);
  const bool is_mark =
      attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  if (device != 0) return cudaErrorInvalidDevice;
  if (!is_mark || bytes != 0) return cudaErrorInvalidValue;
  Context::get<GraphMemoryTable>().reset_most();
  return cudaSuccess;
}

int add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             size_t count, cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, dependencies, nullptr, count, parameters);
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::record;

extern "C" {

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  cudaGraphNodeParams all{};
  all.type = cudaGraphNodeTypeMemAlloc;
  all.alloc.poolProps = parameters->poolProps;
  all.alloc.bytesize = parameters->bytesize;
  const int error = runtime::add_node(node, graph, dependencies, count, &all);
  if (error == 0) parameters->dptr = all.alloc.dptr;
  return static_cast<cudaError_t>(error);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count,
                                    void* pointer) {
  cudaGraphNodeParams all{};
  all.type = cudaGraphNodeTypeMemFree;
  all.free.dptr = pointer;
  return static_cast<cudaError_t>(runtime::add_node(node, graph, dependencies, count, &all));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  return runtime::on_node_of<runtime::AllocationWork>(
      node, [&](const runtime::Node& /*node*/, const runtime::AllocationWork& work) {
        if (parameters == nullptr) return cudaErrorInvalidValue;
        *parameters = {};
        parameters->poolProps.allocType = cudaMemAllocationTypePinned;
        parameters->poolProps.location = {cudaMemLocationTypeDevice, 0};
        parameters->bytesize = work.memory->bytes();
        parameters->dptr = work.memory->pointer();
        return cudaSuccess;
      });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return runtime::on_node_of<runtime::ReleaseWork>(
      node, [&](const runtime::Node& /*node*/, const runtime::ReleaseWork& work) {
        if (pointer == nullptr) return cudaErrorInvalidValue;
        std::memcpy(pointer, &work.pointer, sizeof work.pointer);
        return cudaSuccess;
      });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return api([&] { return runtime::get_attribute(device, attribute, value); });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return api([&] { return runtime::set_attribute(device, attribute, value); });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return record(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

}  // extern "C"
