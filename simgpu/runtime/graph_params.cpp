#include "simgpu/runtime/graph_params.h"

#include <utility>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/context.h"

namespace simgpu::runtime {
namespace {

/// Where a copy begins in pitched memory.
const std::byte* start_of(const cudaPitchedPtr& memory, const cudaPos& position) {
  return static_cast<const std::byte*>(memory.ptr) + position.x +
         memory.pitch * (position.y + memory.ysize * position.z);
}

int work_of_allocation(cudaMemAllocNodeParamsV2* parameters, Work* work) {
  const cudaMemPoolProps& pool = parameters->poolProps;
  const bool is_here = pool.location.type == cudaMemLocationTypeDevice && pool.location.id == 0;
  if (!is_here || pool.allocType != cudaMemAllocationTypePinned || parameters->bytesize == 0) {
    return cudaErrorInvalidValue;
  }
  AllocationWork allocation;
  const int error = GraphMemory::allocate(parameters->bytesize, &allocation.memory);
  if (error != 0) return error;
  parameters->dptr = allocation.memory->pointer();
  *work = std::move(allocation);
  return cudaSuccess;
}

}  // namespace

int work_of(const char* function, const cudaKernelNodeParams* parameters, Work* work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  if (parameters->extra != nullptr) return refuse(function, "arguments in `extra`");
  KernelWork kernel;
  int error = describe_kernel(parameters->func, parameters->gridDim, parameters->blockDim,
                              parameters->kernelParams, parameters->sharedMemBytes, &kernel);
  if (error == 0) error = check(kernel);
  *work = std::move(kernel);
  return error;
}

int work_of(const char* function, const cudaMemcpy3DParms* parameters, Work* work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  if (parameters->srcArray != nullptr || parameters->dstArray != nullptr) {
    return refuse(function, "an array");
  }
  const cudaExtent& extent = parameters->extent;
  // Slices that follow each other without a gap are rows of one.
  const bool whole =
      parameters->srcPtr.ysize == extent.height && parameters->dstPtr.ysize == extent.height;
  if (extent.depth > 1 && !whole) return refuse(function, "slices that are apart");
  Copy copy{.destination = const_cast<std::byte*>(start_of(parameters->dstPtr, parameters->dstPos)),
            .destination_pitch = parameters->dstPtr.pitch,
            .source = start_of(parameters->srcPtr, parameters->srcPos),
            .source_pitch = parameters->srcPtr.pitch,
            .width = extent.width,
            .height = extent.height * extent.depth,
            .kind = parameters->kind,
            .asynchronous = true};
  *work = copy;
  return check(copy);
}

int work_of(const cudaMemsetParams* parameters, Work* work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const Fill fill{.destination = parameters->dst,
                  .pitch = parameters->pitch,
                  .value = parameters->value,
                  .element_bytes = parameters->elementSize,
                  .width = parameters->width,
                  .height = parameters->height,
                  .asynchronous = true};
  *work = fill;
  return check(fill);
}

int work_of(const cudaHostNodeParams* parameters, Work* work) {
  if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
  *work = HostWork{parameters->fn, parameters->userData};
  return cudaSuccess;
}

int work_of_copy(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                 Work* work) {
  const Copy copy{.destination = destination,
                  .destination_pitch = bytes,
                  .source = source,
                  .source_pitch = bytes,
                  .width = bytes,
                  .kind = kind,
                  .asynchronous = true};
  *work = copy;
  return check(copy);
}

int work_of_child(cudaGraph_t graph, Work* work) {
  const Graph* child = Context::get<GraphTable>().find(graph);
  if (child == nullptr) return cudaErrorInvalidValue;
  *work = ChildWork{child->clone()};
  return cudaSuccess;
}

int work_of(const char* function, cudaGraphNodeParams* parameters, Work* work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParamsV2& given = parameters->kernel;
      const cudaKernelNodeParams kernel{.func = given.func,
                                        .gridDim = given.gridDim,
                                        .blockDim = given.blockDim,
                                        .sharedMemBytes = given.sharedMemBytes,
                                        .kernelParams = given.kernelParams,
                                        .extra = given.extra};
      return work_of(function, &kernel, work);
    }
    case cudaGraphNodeTypeMemcpy:
      return work_of(function, &parameters->memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& given = parameters->memset;
      const cudaMemsetParams fill{.dst = given.dst,
                                  .pitch = given.pitch,
                                  .value = given.value,
                                  .elementSize = given.elementSize,
                                  .width = given.width,
                                  .height = given.height};
      return work_of(&fill, work);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host{.fn = parameters->host.fn,
                                    .userData = parameters->host.userData};
      return work_of(&host, work);
    }
    case cudaGraphNodeTypeGraph:
      return work_of_child(parameters->graph.graph, work);
    case cudaGraphNodeTypeEmpty:
      *work = EmptyWork{};
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      *work = EventWaitWork{parameters->eventWait.event};
      return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
      *work = EventRecordWork{parameters->eventRecord.event};
      return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
      return work_of_allocation(&parameters->alloc, work);
    case cudaGraphNodeTypeMemFree:
      if (!Context::get<GraphMemoryTable>().mark_freed(address_of(parameters->free.dptr)))
        return cudaErrorInvalidValue;
      *work = ReleaseWork{parameters->free.dptr};
      return cudaSuccess;
    default:
      return refuse(function, "nodes that decide or use semaphores");
  }
}

cudaKernelNodeParams parameters_of(Node& node, KernelWork& work) {
  node.arguments = argument_pointers(work);
  return {.func = const_cast<void*>(work.function),
          .gridDim = work.grid,
          .blockDim = work.block,
          .sharedMemBytes = work.dynamic_shared_bytes,
          .kernelParams = node.arguments.data(),
          .extra = nullptr};
}

cudaMemcpy3DParms parameters_of(const Copy& copy) {
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {.ptr = const_cast<void*>(copy.source),
                       .pitch = copy.source_pitch,
                       .xsize = copy.width,
                       .ysize = copy.height};
  parameters.dstPtr = {.ptr = copy.destination,
                       .pitch = copy.destination_pitch,
                       .xsize = copy.width,
                       .ysize = copy.height};
  parameters.extent = {.width = copy.width, .height = copy.height, .depth = 1};
  parameters.kind = copy.kind;
  return parameters;
}

cudaMemsetParams parameters_of(const Fill& fill) {
  return {.dst = fill.destination,
          .pitch = fill.pitch,
          .value = fill.value,
          .elementSize = fill.element_bytes,
          .width = fill.width,
          .height = fill.height};
}

}  // namespace simgpu::runtime
