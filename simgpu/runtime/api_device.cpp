#include <algorithm>
#include <atomic>
#include <climits>
#include <mutex>
#include <new>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/context.h"
#include "simgpu/runtime/device_properties.h"
#include "simgpu/runtime/texture_limits.h"

/// The device: its properties and its limits.
namespace simgpu::runtime {
namespace {

constexpr int kWarpSize = 32;
constexpr int kTextureAlignment = 512, kTexturePitchAlignment = 32;
constexpr int kPolicyWindowBytes = 128 << 20;

int need_device(int device) {
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

/// What L2 may keep for accesses that a program marks; a hint that changes nothing here.
std::int64_t persisting_l2_bytes(const protocol::Properties& of) {
  return of.major >= 8 ? std::min<std::int64_t>(of.l2_bytes / 4 * 3, INT_MAX) : 0;
}

/// What the program has set, as far as nothing here depends on it. The device knows nothing of it,
/// so that a reset leaves it.
struct HintedLimits {
  std::atomic<size_t> persisting_l2 = 0, fetch_granularity = 64, printf_buffer = size_t{1} << 20,
                      pending_launches = 2048;
};
HintedLimits& hinted_limits() {
  static HintedLimits limits;
  return limits;
}

void fill_what_version_has(DeviceProperties12& to, const protocol::Properties& from) {
  to.clockRate = from.clock_khz;
  to.memoryClockRate = from.memory_clock_khz;
  to.singleToDoublePrecisionPerfRatio = from.single_to_double_ratio;
  to.deviceOverlap = 1;
  to.maxTexture1DLinear = static_cast<int>(texture_limits::k1DLinear);
}

void fill_what_version_has(DeviceProperties13& to, const protocol::Properties& /*from*/) {
  to.hostNumaId = to.deviceNumaId = -1;
}

/// @param room for the cudaDeviceProp of one version
template <typename DeviceProperties>
void fill_properties(void* room, const protocol::Properties& from) {
  DeviceProperties& to = *new (room) DeviceProperties{};
  static_assert(sizeof from.name <= sizeof to.name);
  std::copy(from.name.begin(), from.name.end(), to.name);
  to.name[from.name.size() - 1] = '\0';
  to.totalGlobalMem = static_cast<size_t>(from.global_bytes);
  to.sharedMemPerBlock = static_cast<size_t>(from.shared_per_block);
  to.sharedMemPerBlockOptin = static_cast<size_t>(from.shared_per_block_optin);
  to.sharedMemPerMultiprocessor = static_cast<size_t>(from.shared_per_multiprocessor);
  to.cooperativeLaunch = 1;
  to.reservedSharedMemPerBlock = static_cast<size_t>(from.reserved_shared_per_block);
  to.regsPerBlock = from.registers_per_multiprocessor;
  to.regsPerMultiprocessor = from.registers_per_multiprocessor;
  to.warpSize = kWarpSize;
  to.memPitch = INT_MAX;
  to.maxThreadsPerBlock = from.threads_per_block;
  to.maxThreadsDim[0] = to.maxThreadsDim[1] = from.threads_per_block;
  to.maxThreadsDim[2] = 64;
  to.maxGridSize[0] = INT_MAX;
  to.maxGridSize[1] = to.maxGridSize[2] = 65535;
  to.totalConstMem = 65536;
  to.major = from.major;
  to.minor = from.minor;
  to.textureAlignment = kTextureAlignment;
  to.texturePitchAlignment = kTexturePitchAlignment;
  to.surfaceAlignment = kTextureAlignment;
  fill_texture_limits(to);
  to.multiProcessorCount = from.multiprocessors;
  to.concurrentKernels = 1;
  to.asyncEngineCount = 2;
  to.unifiedAddressing = 1;
  to.memoryBusWidth = from.memory_bus_bits;
  to.l2CacheSize = static_cast<int>(std::min<std::int64_t>(from.l2_bytes, INT_MAX));
  to.maxThreadsPerMultiProcessor = from.threads_per_multiprocessor;
  to.maxBlocksPerMultiProcessor = from.blocks_per_multiprocessor;
  to.streamPrioritiesSupported = 1;
  to.globalL1CacheSupported = 1;
  to.localL1CacheSupported = 1;
  to.hostRegisterSupported = 1;
  to.memoryPoolsSupported = 1;
  to.persistingL2CacheMaxSize = static_cast<int>(persisting_l2_bytes(from));
  to.accessPolicyMaxWindowSize = kPolicyWindowBytes;
  to.canMapHostMemory = 1;
  to.managedMemory = 1;
  to.concurrentManagedAccess = 1;
  to.computePreemptionSupported = 1;
  fill_what_version_has(to, from);
}

/// The value of an attribute that is the same on every simulated GPU.
std::int64_t common_attribute(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return INT_MAX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrTotalConstantMemory:
      return 65536;
    case cudaDevAttrWarpSize:
      return kWarpSize;
    case cudaDevAttrMaxPitch:
      return INT_MAX;
    case cudaDevAttrAsyncEngineCount:
      return 2;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrMemSyncDomainCount:
      return 1;
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment:
      return kTextureAlignment;
    case cudaDevAttrTexturePitchAlignment:
      return kTexturePitchAlignment;
    case cudaDevAttrHostNumaId:
    case cudaDevAttrNumaId:
      return -1;
    default:  // 0 for what it lacks, and for numbers of places on a bus that it is not on
      return texture_attribute(attribute);
  }
}

std::int64_t attribute_value(cudaDeviceAttr attribute, const protocol::Properties& of) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return of.threads_per_block;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return of.shared_per_block;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return of.shared_per_block_optin;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return of.shared_per_multiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return of.reserved_shared_per_block;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return of.registers_per_multiprocessor;
    case cudaDevAttrClockRate:
      return of.clock_khz;
    case cudaDevAttrMemoryClockRate:
      return of.memory_clock_khz;
    case cudaDevAttrGlobalMemoryBusWidth:
      return of.memory_bus_bits;
    case cudaDevAttrMultiProcessorCount:
      return of.multiprocessors;
    case cudaDevAttrMaxPersistingL2CacheSize:
      return persisting_l2_bytes(of);
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return kPolicyWindowBytes;
    case cudaDevAttrL2CacheSize:
      return of.l2_bytes;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return of.threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return of.blocks_per_multiprocessor;
    case cudaDevAttrComputeCapabilityMajor:
      return of.major;
    case cudaDevAttrComputeCapabilityMinor:
      return of.minor;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return of.single_to_double_ratio;
    default:
      return common_attribute(attribute);
  }
}

int reset_device() {
  Client& client = Client::instance();
  std::unique_lock transfer(client.transfers());
  const int error = client.ask(GuestOperation::reset).error;
  transfer.unlock();
  if (error == 0) Context::reset();
  return error;
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::Client;
using runtime::GuestOperation;
using runtime::record;
using runtime::request;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return record(cudaErrorInvalidValue);
  *count = Client::instance().connected() ? 1 : 0;
  return *count == 1 ? cudaSuccess : record(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return record(cudaErrorInvalidValue);
  *device = 0;
  return record(runtime::need_device(0));
}

cudaError_t cudaSetDevice(int device) { return record(runtime::need_device(device)); }

cudaError_t cudaInitDevice(int device, unsigned /*device_flags*/, unsigned /*flags*/) {
  return record(runtime::need_device(device));
}

cudaError_t cudaSetDeviceFlags(unsigned /*flags*/) { return record(runtime::need_device(0)); }

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (flags != nullptr) *flags = 0;
  return record(runtime::need_device(0));
}

/// @param properties of the library's version, which need not be that of the headers at hand
cudaError_t cudaGetDeviceProperties(void* properties, int device) {
  if (properties == nullptr) return record(cudaErrorInvalidValue);
  const int error = runtime::need_device(device);
  if (error == 0) {
    runtime::note_host_call({.kind = simgpu::protocol::HostCallKind::ask_properties});
    const auto fill = runtime::is_cuda_12()
                          ? &runtime::fill_properties<runtime::DeviceProperties12>
                          : &runtime::fill_properties<runtime::DeviceProperties13>;
    fill(properties, Client::instance().properties());
  }
  return record(error);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return record(cudaErrorInvalidValue);
  if (const int error = runtime::need_device(device); error != 0) return record(error);
  if (attribute <= 0 || attribute >= cudaDevAttrMax) return record(cudaErrorInvalidValue);
  const auto known = runtime::attribute_value(attribute, Client::instance().properties());
  *value = static_cast<int>(std::min<std::int64_t>(known, INT_MAX));
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  if (const int error = runtime::permit_device(); error != 0) return record(error);
  return request(GuestOperation::device_synchronize);
}

cudaError_t cudaDeviceReset() { return api(runtime::reset_device); }

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (limit == cudaLimitStackSize) {
    return request(GuestOperation::set_stack_limit, std::uint64_t{value});
  }
  if (limit == cudaLimitPersistingL2CacheSize) {
    const int error = runtime::need_device(0);
    if (error != 0) return record(error);
    const auto most = runtime::persisting_l2_bytes(Client::instance().properties());
    if (value > static_cast<size_t>(most)) return record(cudaErrorInvalidValue);
    runtime::hinted_limits().persisting_l2 = value;
    return cudaSuccess;
  }
  if (limit == cudaLimitMaxL2FetchGranularity) {
    if (value > 128) return record(cudaErrorInvalidValue);
    runtime::hinted_limits().fetch_granularity = value;
    return record(runtime::need_device(0));
  }
  if (limit == cudaLimitMallocHeapSize) {
    return request(GuestOperation::set_heap_limit, std::uint64_t{value});
  }
  if (limit == cudaLimitPrintfFifoSize) {
    runtime::hinted_limits().printf_buffer = value;
    return record(runtime::need_device(0));
  }
  if (limit == cudaLimitDevRuntimePendingLaunchCount) {
    runtime::hinted_limits().pending_launches = value;
    return record(runtime::need_device(0));
  }
  return record(cudaErrorUnsupportedLimit);
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  if (value == nullptr) return record(cudaErrorInvalidValue);
  switch (limit) {
    case cudaLimitStackSize: {
      std::uint64_t bytes = 0;
      const cudaError_t error = runtime::request_value(&bytes, GuestOperation::get_stack_limit);
      if (error == cudaSuccess) *value = bytes;
      return error;
    }
    case cudaLimitPersistingL2CacheSize:
      *value = runtime::hinted_limits().persisting_l2;
      break;
    case cudaLimitMaxL2FetchGranularity:
      *value = runtime::hinted_limits().fetch_granularity;
      break;
    case cudaLimitDevRuntimePendingLaunchCount:
      *value = runtime::hinted_limits().pending_launches;
      break;
    case cudaLimitDevRuntimeSyncDepth:
      return record(cudaErrorUnsupportedLimit);
    case cudaLimitPrintfFifoSize:
      *value = runtime::hinted_limits().printf_buffer;
      break;
    case cudaLimitMallocHeapSize: {
      std::uint64_t bytes = 0;
      const cudaError_t error = runtime::request_value(&bytes, GuestOperation::get_heap_limit);
      if (error == cudaSuccess) *value = bytes;
      return error;
    }
    default:
      return record(cudaErrorInvalidValue);
  }
  return record(runtime::need_device(0));
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (config == nullptr) return record(cudaErrorInvalidValue);
  *config = cudaFuncCachePreferNone;
  return record(runtime::need_device(0));
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache /*config*/) {
  return record(runtime::need_device(0));
}

cudaError_t cudaFuncSetCacheConfig(const void* /*function*/, cudaFuncCache /*config*/) {
  return record(runtime::need_device(0));
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return record(cudaErrorInvalidValue);
  *version = simgpu_cuda_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

/// Shared memory has banks of four bytes on every GPU that there is a file for.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (config == nullptr) return record(cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return record(runtime::need_device(0));
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig /*config*/) {
  return record(runtime::need_device(0));
}

cudaError_t cudaFuncSetSharedMemConfig(const void* /*function*/, cudaSharedMemConfig /*config*/) {
  return record(runtime::need_device(0));
}

/// There is no driver: no function of its is found.
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                             unsigned /*version*/, unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* result) {
  if (name == nullptr || function == nullptr) return record(cudaErrorInvalidValue);
  *function = nullptr;
  if (result != nullptr) *result = cudaDriverEntryPointSymbolNotFound;
  return result != nullptr ? cudaSuccess : record(cudaErrorSymbolNotFound);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function,
                                                  unsigned version, unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, version, flags, result);
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, simgpu_cuda_version, flags, result);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function,
                                         unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, simgpu_cuda_version, flags, result);
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"
