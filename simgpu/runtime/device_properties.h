#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

/// cudaDeviceProp of each major version of CUDA, as driver_types.h of 12.4 and of 13.0 declares it.
/// Later minor versions fill what is reserved, and 13 moved to attributes what it left out.
namespace simgpu::runtime {

// Every member in order: its type, its name, and how many there are of an array.
// clang-format off
#define SIMGPU_DEVICE_PROPERTIES(ALL, IN_12, IN_13) \
  ALL(char, name, [256]) \
  ALL(cudaUUID_t, uuid, ) \
  ALL(char, luid, [8]) \
  ALL(unsigned, luidDeviceNodeMask, ) \
  ALL(size_t, totalGlobalMem, ) \
  ALL(size_t, sharedMemPerBlock, ) \
  ALL(int, regsPerBlock, ) \
  ALL(int, warpSize, ) \
  ALL(size_t, memPitch, ) \
  ALL(int, maxThreadsPerBlock, ) \
  ALL(int, maxThreadsDim, [3]) \
  ALL(int, maxGridSize, [3]) \
  IN_12(int, clockRate, ) \
  ALL(size_t, totalConstMem, ) \
  ALL(int, major, ) \
  ALL(int, minor, ) \
  ALL(size_t, textureAlignment, ) \
  ALL(size_t, texturePitchAlignment, ) \
  IN_12(int, deviceOverlap, ) \
  ALL(int, multiProcessorCount, ) \
  IN_12(int, kernelExecTimeoutEnabled, ) \
  ALL(int, integrated, ) \
  ALL(int, canMapHostMemory, ) \
  IN_12(int, computeMode, ) \
  ALL(int, maxTexture1D, ) \
  ALL(int, maxTexture1DMipmap, ) \
  IN_12(int, maxTexture1DLinear, ) \
  ALL(int, maxTexture2D, [2]) \
  ALL(int, maxTexture2DMipmap, [2]) \
  ALL(int, maxTexture2DLinear, [3]) \
  ALL(int, maxTexture2DGather, [2]) \
  ALL(int, maxTexture3D, [3]) \
  ALL(int, maxTexture3DAlt, [3]) \
  ALL(int, maxTextureCubemap, ) \
  ALL(int, maxTexture1DLayered, [2]) \
  ALL(int, maxTexture2DLayered, [3]) \
  ALL(int, maxTextureCubemapLayered, [2]) \
  ALL(int, maxSurface1D, ) \
  ALL(int, maxSurface2D, [2]) \
  ALL(int, maxSurface3D, [3]) \
  ALL(int, maxSurface1DLayered, [2]) \
  ALL(int, maxSurface2DLayered, [3]) \
  ALL(int, maxSurfaceCubemap, ) \
  ALL(int, maxSurfaceCubemapLayered, [2]) \
  ALL(size_t, surfaceAlignment, ) \
  ALL(int, concurrentKernels, ) \
  ALL(int, ECCEnabled, ) \
  ALL(int, pciBusID, ) \
  ALL(int, pciDeviceID, ) \
  ALL(int, pciDomainID, ) \
  ALL(int, tccDriver, ) \
  ALL(int, asyncEngineCount, ) \
  ALL(int, unifiedAddressing, ) \
  IN_12(int, memoryClockRate, ) \
  ALL(int, memoryBusWidth, ) \
  ALL(int, l2CacheSize, ) \
  ALL(int, persistingL2CacheMaxSize, ) \
  ALL(int, maxThreadsPerMultiProcessor, ) \
  ALL(int, streamPrioritiesSupported, ) \
  ALL(int, globalL1CacheSupported, ) \
  ALL(int, localL1CacheSupported, ) \
  ALL(size_t, sharedMemPerMultiprocessor, ) \
  ALL(int, regsPerMultiprocessor, ) \
  ALL(int, managedMemory, ) \
  ALL(int, isMultiGpuBoard, ) \
  ALL(int, multiGpuBoardGroupID, ) \
  ALL(int, hostNativeAtomicSupported, ) \
  IN_12(int, singleToDoublePrecisionPerfRatio, ) \
  ALL(int, pageableMemoryAccess, ) \
  ALL(int, concurrentManagedAccess, ) \
  ALL(int, computePreemptionSupported, ) \
  ALL(int, canUseHostPointerForRegisteredMem, ) \
  ALL(int, cooperativeLaunch, ) \
  IN_12(int, cooperativeMultiDeviceLaunch, ) \
  ALL(size_t, sharedMemPerBlockOptin, ) \
  ALL(int, pageableMemoryAccessUsesHostPageTables, ) \
  ALL(int, directManagedMemAccessFromHost, ) \
  ALL(int, maxBlocksPerMultiProcessor, ) \
  ALL(int, accessPolicyMaxWindowSize, ) \
  ALL(size_t, reservedSharedMemPerBlock, ) \
  ALL(int, hostRegisterSupported, ) \
  ALL(int, sparseCudaArraySupported, ) \
  ALL(int, hostRegisterReadOnlySupported, ) \
  ALL(int, timelineSemaphoreInteropSupported, ) \
  ALL(int, memoryPoolsSupported, ) \
  ALL(int, gpuDirectRDMASupported, ) \
  ALL(unsigned, gpuDirectRDMAFlushWritesOptions, ) \
  ALL(int, gpuDirectRDMAWritesOrdering, ) \
  ALL(unsigned, memoryPoolSupportedHandleTypes, ) \
  ALL(int, deferredMappingCudaArraySupported, ) \
  ALL(int, ipcEventSupported, ) \
  ALL(int, clusterLaunch, ) \
  ALL(int, unifiedFunctionPointers, ) \
  IN_13(int, deviceNumaConfig, ) \
  IN_13(int, deviceNumaId, ) \
  IN_13(int, mpsEnabled, ) \
  IN_13(int, hostNumaId, ) \
  IN_13(unsigned, gpuPciDeviceID, ) \
  IN_13(unsigned, gpuPciSubsystemID, ) \
  IN_13(int, hostNumaMultinodeIpcSupported, )
// clang-format on

#define SIMGPU_MEMBER(type, name, count) type name count;
#define SIMGPU_NO_MEMBER(type, name, count)

struct DeviceProperties12 {
  SIMGPU_DEVICE_PROPERTIES(SIMGPU_MEMBER, SIMGPU_MEMBER, SIMGPU_NO_MEMBER)
  int reserved[63];
};

struct DeviceProperties13 {
  SIMGPU_DEVICE_PROPERTIES(SIMGPU_MEMBER, SIMGPU_NO_MEMBER, SIMGPU_MEMBER)
  int reserved[56];
};

#undef SIMGPU_MEMBER

// One of the two is that of the headers at hand, member by member.
#if CUDART_VERSION < 13000
using DevicePropertiesOfHeaders = DeviceProperties12;
#define SIMGPU_IN_12 SIMGPU_SAME_PLACE
#define SIMGPU_IN_13 SIMGPU_NO_MEMBER
#else
using DevicePropertiesOfHeaders = DeviceProperties13;
#define SIMGPU_IN_12 SIMGPU_NO_MEMBER
#define SIMGPU_IN_13 SIMGPU_SAME_PLACE
#endif
#define SIMGPU_SAME_PLACE(type, name, count)                                                   \
  static_assert(offsetof(DevicePropertiesOfHeaders, name) == offsetof(cudaDeviceProp, name) && \
                sizeof(DevicePropertiesOfHeaders::name) == sizeof(cudaDeviceProp::name));
SIMGPU_DEVICE_PROPERTIES(SIMGPU_SAME_PLACE, SIMGPU_IN_12, SIMGPU_IN_13)
static_assert(sizeof(DevicePropertiesOfHeaders) == sizeof(cudaDeviceProp));
#undef SIMGPU_SAME_PLACE
#undef SIMGPU_IN_12
#undef SIMGPU_IN_13
#undef SIMGPU_NO_MEMBER

}  // namespace simgpu::runtime
