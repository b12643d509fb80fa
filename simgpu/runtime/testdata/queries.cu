// What a program asks about the device, its kernels and its streams, and what it lets them call.
#include <cuda_profiler_api.h>

#include "check.h"

__global__ void __launch_bounds__(256) store(int* data, double value, char tag) {
  __shared__ int buffer[256];
  buffer[threadIdx.x] = static_cast<int>(value) + tag;
  __syncthreads();
  data[threadIdx.x] = buffer[255 - threadIdx.x];
}

__global__ void store_dynamic(int* data) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = 1;
  data[threadIdx.x] = dynamic[threadIdx.x];
}

void ask_for_attributes() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  const auto attribute = [](cudaDeviceAttr which) {
    int value = -7;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
  };
  // All of them have an answer, and it is the properties'.
  for (int i = 1; i < cudaDevAttrMax; ++i) attribute(static_cast<cudaDeviceAttr>(i));
  EXPECT(attribute(cudaDevAttrWarpSize) == properties.warpSize);
  EXPECT(attribute(cudaDevAttrMultiProcessorCount) == properties.multiProcessorCount);
  EXPECT(attribute(cudaDevAttrManagedMemory) == 1 && properties.managedMemory == 1);
  EXPECT(attribute(cudaDevAttrCanMapHostMemory) == 1 && properties.canMapHostMemory == 1);
  EXPECT(attribute(cudaDevAttrConcurrentManagedAccess) == properties.concurrentManagedAccess);
  EXPECT(attribute(cudaDevAttrPageableMemoryAccess) == 0 && properties.pageableMemoryAccess == 0);
  EXPECT(attribute(cudaDevAttrMaxBlocksPerMultiprocessor) == properties.maxBlocksPerMultiProcessor);
  int value = 0;
  EXPECT_ERROR(cudaDeviceGetAttribute(&value, cudaDevAttrMax, 0), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
}

void look_for_other_devices() {
  int count = 0, device = -1, can = 5;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  EXPECT_ERROR(cudaSetDevice(1), cudaErrorInvalidDevice);
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  EXPECT_ERROR(cudaDeviceCanAccessPeer(&can, 0, 1), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  char place[32];
  CHECK(cudaDeviceGetPCIBusId(place, sizeof place, 0));
  CHECK(cudaDeviceGetByPCIBusId(&device, place));
  EXPECT(device == 0);
  EXPECT_ERROR(cudaDeviceGetByPCIBusId(&device, "0000:7f:00.0"), cudaErrorInvalidDevice);
  cudaDeviceProp wanted = {};
  CHECK(cudaChooseDevice(&device, &wanted));
  EXPECT(device == 0);
}

void ask_for_limits() {
  size_t bytes = 0;
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  EXPECT(bytes >= 1024);
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT(bytes > 0);
  int persisting = 0;
  CHECK(cudaDeviceGetAttribute(&persisting, cudaDevAttrMaxPersistingL2CacheSize, 0));
  EXPECT(persisting > 0);
  CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 4096));
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize));
  EXPECT(bytes == 4096);
  EXPECT_ERROR(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t{1} << 40),
               cudaErrorInvalidValue);
  EXPECT_ERROR(cudaDeviceGetLimit(&bytes, static_cast<cudaLimit>(99)), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaDeviceGetLimit(&bytes, cudaLimitDevRuntimeSyncDepth), cudaErrorUnsupportedLimit);
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22));
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
  EXPECT(bytes == 1 << 22);
  int runtime = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  EXPECT(runtime == driver && runtime >= CUDART_VERSION);
  cudaFuncCache cache;
  CHECK(cudaFuncSetCacheConfig(store, cudaFuncCachePreferL1));
  CHECK(cudaDeviceGetCacheConfig(&cache));
  void* entry = &bytes;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, CUDART_VERSION, cudaEnableDefault,
                                         &found));
  EXPECT(entry == nullptr && found == cudaDriverEntryPointSymbolNotFound);
  CHECK(cudaProfilerStart());
  CHECK(cudaProfilerStop());
}

/// Shared memory that a block of this size takes.
struct OneInt {
  __host__ __device__ size_t operator()(int threads) const { return threads * sizeof(int); }
};

void ask_about_kernels() {
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, store));
  EXPECT(attributes.sharedSizeBytes == 256 * sizeof(int));
  EXPECT(attributes.maxThreadsPerBlock == 256);
  EXPECT(attributes.numRegs > 0 && attributes.binaryVersion == 80);
  size_t offset = 9, bytes = 0;
  CHECK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store), 1, &offset, &bytes));
  EXPECT(offset == 8 && bytes == sizeof(double));
  CHECK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store), 2, &offset, nullptr));
  EXPECT(offset == 16);
  EXPECT_ERROR(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store), 3, &offset, &bytes),
               cudaErrorInvalidValue);

  // Of shared memory, as many blocks fit as the occupancy says, and with one unit more one less.
  const int threads = 64;
  for (const int blocks : {1, 3, 8}) {
    size_t available = 0;
    int fitting = 0;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&available, store_dynamic, blocks, threads));
    CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, store_dynamic, threads, available));
    EXPECT(fitting >= blocks);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, store_dynamic, threads,
                                                        available + 128));
    EXPECT(fitting < blocks);
  }
  int grid = 0, block = 0, active = 0, processors = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, store, 0, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&active, store, block, 0));
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(block > 0 && block <= 256 && grid == active * processors);
  CHECK(
      cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, store_dynamic, OneInt{}, 512));
  EXPECT(block > 0 && block <= 512);
  EXPECT_ERROR(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&active)),
               cudaErrorInvalidResourceHandle);
  EXPECT_ERROR(cudaFuncGetAttributes(&attributes, static_cast<const void*>(nullptr)),
               cudaErrorInvalidDeviceFunction);
  for (const int percent : {-1, 0, 100}) {
    CHECK(cudaFuncSetAttribute(store, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
  }
  EXPECT_ERROR(cudaFuncSetAttribute(store, cudaFuncAttributePreferredSharedMemoryCarveout, 101),
               cudaErrorInvalidValue);
}

void flags_that_there_are_not() {
  cudaEvent_t event;
  EXPECT_ERROR(cudaEventCreateWithFlags(&event, 0x80), cudaErrorInvalidValue);
  CHECK(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming));
  EXPECT_ERROR(cudaStreamWaitEvent(nullptr, event, 7), cudaErrorInvalidValue);
  CHECK(cudaStreamWaitEvent(nullptr, event, cudaEventWaitDefault));
  CHECK(cudaEventDestroy(event));
  EXPECT_ERROR(cudaLaunchHostFunc(nullptr, nullptr, nullptr), cudaErrorInvalidValue);
}

void launch_extended() {
  int *data = nullptr, value = 0;
  CHECK(cudaMalloc(&data, 256 * sizeof(int)));
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 256;
  cudaLaunchAttribute priority;
  priority.id = cudaLaunchAttributePriority;
  priority.val.priority = -1;
  config.attrs = &priority;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, store, data, 3.5, 'a'));
  CHECK(cudaMemcpy(&value, data + 9, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 3 + 'a');
  CHECK(cudaFree(data));
}

struct Heard {
  int functions = 0, callbacks = 0;
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaErrorUnknown;
  cudaError_t refused = cudaSuccess, refused_to_callback = cudaSuccess;
  int value = 0;
  const int* pinned = nullptr;
};

void ask_streams() {
  int least = 1, greatest = 1, priority = 1, device = -1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest < 0);
  cudaStream_t stream, other;
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaStreamGetPriority(stream, &priority));
  EXPECT(priority == greatest);
  unsigned flags = 9;
  CHECK(cudaStreamGetFlags(stream, &flags));
  EXPECT(flags == cudaStreamNonBlocking);
  CHECK(cudaStreamGetDevice(stream, &device));
  EXPECT(device == 0);
  unsigned long long first = 0, second = 0;
  CHECK(cudaStreamGetId(stream, &first));
  CHECK(cudaStreamGetId(other, &second));
  EXPECT(first != second);
  cudaStreamAttrValue value = {};
  CHECK(cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value));
  EXPECT(value.priority == greatest);
  value = {};
  value.accessPolicyWindow.hitRatio = 1;
  CHECK(cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &value));
  CHECK(cudaStreamCopyAttributes(other, stream));

  // Host functions and callbacks come when the stream's work is done.
  int *pinned, *data;
  CHECK(cudaMallocHost(&pinned, 256 * sizeof(int)));
  CHECK(cudaMalloc(&data, 256 * sizeof(int)));
  Heard heard;
  heard.pinned = pinned;
  store<<<1, 256, 0, stream>>>(data, 4.0, 1);
  CHECK(cudaMemcpyAsync(pinned, data, 256 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(
      stream,
      [](void* hears) {
        auto* to = static_cast<Heard*>(hears);
        to->value = to->pinned[17];
        to->refused = cudaStreamSynchronize(nullptr);
        ++to->functions;
      },
      &heard));
  const cudaStreamCallback_t callback = [](cudaStream_t from, cudaError_t status, void* hears) {
    auto* to = static_cast<Heard*>(hears);
    to->stream = from;
    to->status = status;
    void* none = nullptr;
    to->refused_to_callback = cudaMalloc(&none, 4);
    ++to->callbacks;
  };
  CHECK(cudaStreamAddCallback(stream, callback, &heard, 0));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(heard.functions == 1 && heard.value == 5);
  EXPECT(heard.callbacks == 1 && heard.stream == stream && heard.status == cudaSuccess);
  EXPECT(heard.refused == cudaErrorNotPermitted);
  EXPECT(heard.refused_to_callback == cudaErrorNotPermitted);
  EXPECT(cudaGetLastError() == cudaErrorNotPermitted);
  EXPECT_ERROR(cudaStreamAddCallback(stream, callback, &heard, 1), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaStreamAddCallback(stream, nullptr, &heard, 0), cudaErrorInvalidValue);
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaStreamDestroy(other));
  EXPECT_ERROR(cudaStreamAddCallback(stream, callback, &heard, 0), cudaErrorInvalidResourceHandle);
  EXPECT(heard.callbacks == 1);
  CHECK(cudaFree(data));
  CHECK(cudaFreeHost(pinned));
}

int main() {
  ask_for_attributes();
  look_for_other_devices();
  ask_for_limits();
  ask_about_kernels();
  flags_that_there_are_not();
  launch_extended();
  ask_streams();
  std::printf("answers are right\n");
}
