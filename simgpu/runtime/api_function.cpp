#include <algorithm>
#include <cstdint>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/registry.h"

/// Kernels: what the program may ask and say of them, and how many of their blocks fit.
namespace simgpu::runtime {
namespace {

int function_attributes(cudaFuncAttributes* attributes, const void* function) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  Kernel* kernel = nullptr;
  if (const int error = Registry::instance().resolve(function, &kernel); error != 0) return error;
  const protocol::KernelAttributes& known = kernel->attributes;
  *attributes = {};
  attributes->sharedSizeBytes = known.static_shared_bytes;
  attributes->localSizeBytes = known.local_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(known.max_threads_per_block);
  attributes->numRegs = static_cast<int>(known.registers);
  attributes->ptxVersion = static_cast<int>(known.target);
  attributes->binaryVersion = static_cast<int>(known.target);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(known.max_dynamic_shared_bytes);
  attributes->preferredShmemCarveout = -1;
  return 0;
}

int set_function_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  Kernel* kernel = nullptr;
  if (const int error = Registry::instance().resolve(function, &kernel); error != 0) return error;
  switch (attribute) {
    case cudaFuncAttributePreferredSharedMemoryCarveout:  // a hint, in percent; -1 is the default
      return value < -1 || value > 100 ? cudaErrorInvalidValue : cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      return refuse("cudaFuncSetAttribute", "the size of a cluster");
    default:
      break;
  }
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0) {
    return cudaErrorInvalidValue;
  }
  const Reply reply =
      Client::instance().ask(GuestOperation::set_shared_limit, kernel->binary->module,
                             kernel->index, static_cast<std::uint32_t>(value));
  if (reply.ok()) {
    kernel->attributes.max_dynamic_shared_bytes = static_cast<std::uint32_t>(value);
    kernel->shared_limit = static_cast<std::uint32_t>(value);
  }
  return reply.error;
}

int active_blocks(int* blocks, const void* function, int threads, size_t dynamic_bytes) {
  if (blocks == nullptr || threads <= 0 || dynamic_bytes > UINT32_MAX) return cudaErrorInvalidValue;
  Kernel* kernel = nullptr;
  if (const int error = Registry::instance().resolve(function, &kernel); error != 0) return error;
  const Reply reply = Client::instance().ask(GuestOperation::occupancy, kernel->binary->module,
                                             kernel->index, static_cast<std::uint32_t>(threads),
                                             static_cast<std::uint32_t>(dynamic_bytes));
  if (reply.ok()) *blocks = static_cast<int>(reply.reader().get<std::uint32_t>());
  return reply.error;
}

/// The most dynamic shared memory with which `blocks` still run side by side, in whole units.
int available_shared_memory(size_t* bytes, const void* function, int blocks, int threads) {
  constexpr int kUnit = 128;  // shared memory is given out in these
  if (bytes == nullptr || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
  int fitting = -1, too_much = Client::instance().properties().shared_per_block_optin / kUnit + 1;
  while (too_much - fitting > 1) {
    const int middle = (fitting + too_much) / 2;
    int active = 0;
    const int error =
        active_blocks(&active, function, threads, static_cast<size_t>(middle) * kUnit);
    if (error != 0) return error;
    (active >= blocks ? fitting : too_much) = middle;
  }
  *bytes = static_cast<size_t>(std::max(fitting, 0)) * kUnit;
  return fitting < 0 ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return api([&] { return runtime::function_attributes(attributes, function); });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return api([&] { return runtime::set_function_attribute(function, attribute, value); });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                 size_t* bytes) {
  return api([&] {
    runtime::Kernel* kernel = nullptr;
    if (offset == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    if (const int error = runtime::Registry::instance().resolve(function, &kernel); error != 0)
      return error;
    if (index >= kernel->parameters.size()) return static_cast<int>(cudaErrorInvalidValue);
    *offset = kernel->parameters[index].offset;
    if (bytes != nullptr) *bytes = kernel->parameters[index].bytes;
    return 0;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return api([&] {
    runtime::Kernel* kernel = runtime::Registry::instance().kernel(function);
    if (name == nullptr || kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *name = kernel->name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t dynamic_bytes) {
  return api([&] { return runtime::active_blocks(blocks, function, threads, dynamic_bytes); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_bytes, unsigned /*flags*/) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_bytes);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int threads) {
  return api([&] { return runtime::available_shared_memory(bytes, function, blocks, threads); });
}

}  // extern "C"
