// What the runtime keeps in the program's process: a reset of the device leaves nothing of it but
// what is the program's own. Nothing here asks the device for what it no longer has.
#include <atomic>
#include <thread>

#include "check.h"

__device__ int counter = 7;
__global__ void nothing() {}

cudaMemLocation device() {
  cudaMemLocation place = {};
  place.type = cudaMemLocationTypeDevice;
  return place;
}

/// The same in each life of the device.
struct Objects {
  int host = 0;
  int *managed = nullptr, *pinned = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;

  void make_memory() {
    CHECK(cudaMallocManaged(&managed, 4096));
    CHECK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, device()));
    CHECK(cudaMallocHost(&pinned, 4096));
    CHECK(cudaHostRegister(&host, sizeof host, cudaHostRegisterDefault));
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = device();
    CHECK(cudaMemPoolCreate(&pool, &properties));
    CHECK(cudaDeviceSetMemPool(0, pool));
  }
  void make_images() {
    const auto format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, 8, 8, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
  }
  /// Of a graph, of what is made of it, and of a capture under way, each with memory.
  void make_graphs() {
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location = device();
    memory.bytesize = 1024;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    void* captured = nullptr;
    CHECK(cudaMallocAsync(&captured, 1024, stream));
    CHECK(cudaEventRecord(event, stream));
  }
};

unsigned long long graph_memory(cudaGraphMemAttributeType which) {
  unsigned long long bytes = 1;
  CHECK(cudaDeviceGetGraphMemAttribute(0, which, &bytes));
  return bytes;
}

void expect_no_memory(Objects& old) {
  unsigned flags = 0;
  EXPECT_ERROR(cudaMemAdvise(old.managed, 4096, cudaMemAdviseSetReadMostly, device()),
               cudaErrorInvalidValue);
  EXPECT_ERROR(cudaHostGetFlags(&flags, old.pinned), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaHostUnregister(&old.host), cudaErrorHostMemoryNotRegistered);
  cudaMemPool_t first = nullptr, current = nullptr;
  CHECK(cudaDeviceGetDefaultMemPool(&first, 0));
  CHECK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == first && current != old.pool);
}

void expect_no_images(const Objects& old) {
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags = 0;
  cudaResourceDesc resource;
  EXPECT_ERROR(cudaArrayGetInfo(&format, &extent, &flags, old.array),
               cudaErrorInvalidResourceHandle);
  EXPECT_ERROR(cudaGetTextureObjectResourceDesc(&resource, old.texture), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGetSurfaceObjectResourceDesc(&resource, old.surface), cudaErrorInvalidValue);
}

void expect_no_graphs(const Objects& old) {
  size_t count = 0;
  unsigned long long flags = 0;
  cudaGraphNodeType type;
  EXPECT_ERROR(cudaGraphGetNodes(old.graph, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGraphNodeGetType(old.node, &type), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGraphExecGetFlags(old.exec, &flags), cudaErrorInvalidValue);
  EXPECT(graph_memory(cudaGraphMemAttrUsedMemCurrent) == 0);
  EXPECT(graph_memory(cudaGraphMemAttrUsedMemHigh) == 0);
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusActive;
  CHECK(cudaStreamIsCapturing(old.stream, &capturing));
  EXPECT(capturing == cudaStreamCaptureStatusNone);
  EXPECT_ERROR(cudaStreamEndCapture(old.stream, nullptr), cudaErrorIllegalState);
}

/// No reset takes what the program has said of its kernels, and the limits that are hints.
void expect_what_is_kept() {
  size_t bytes = 0;
  cudaFuncAttributes attributes;
  int value = 0;
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
  EXPECT(bytes == 1 << 22);
  CHECK(cudaFuncGetAttributes(&attributes, nothing));
  EXPECT(attributes.maxDynamicSharedSizeBytes == 60 * 1024);
  CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT(value == 7);
  cudaGetLastError();
  nothing<<<1, 1, 60 * 1024>>>();
  CHECK(cudaGetLastError());
}

/// Threads that use the tables while another one resets the device: each call succeeds or says why.
void reset_among_threads() {
  std::atomic<bool> done = false;
  const auto work = [&] {
    while (!done) {
      cudaArray_t array = nullptr;
      cudaGraph_t graph = nullptr;
      cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
      cudaExtent extent;
      unsigned flags = 0;
      int value = 0;
      size_t count = 0;
      void* managed = nullptr;
      cudaGraphCreate(&graph, 0);
      cudaGraphGetNodes(graph, nullptr, &count);
      cudaMallocArray(&array, &format, 8, 8, 0);
      cudaArrayGetInfo(&format, &extent, &flags, array);
      cudaMallocManaged(&managed, 4096);
      cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, device());
      cudaMemcpyFromSymbol(&value, counter, sizeof value);
      cudaHostRegister(&value, sizeof value, cudaHostRegisterDefault);
      cudaHostUnregister(&value);
    }
  };
  std::thread first(work), second(work);
  for (int i = 0; i < 200; ++i) CHECK(cudaDeviceReset());
  done = true;
  first.join();
  second.join();
  CHECK(cudaDeviceReset());
}

void live_twice() {
  for (int life = 0; life < 2; ++life) {
    Objects objects;
    objects.make_memory();
    objects.make_images();
    objects.make_graphs();
    CHECK(cudaDeviceReset());
    expect_no_graphs(objects);
    expect_no_memory(objects);
    expect_no_images(objects);
    expect_what_is_kept();
  }
}

int main(int count, char** /*arguments*/) {
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22));
  CHECK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024));
  if (count > 1) {
    reset_among_threads();
    expect_what_is_kept();
  } else {
    live_twice();
  }
  std::printf("a new life\n");
}
