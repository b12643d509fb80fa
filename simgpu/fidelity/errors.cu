#include <array>
#include <cstdlib>
#include <cstring>

#include "topic.h"

/// The error of every call that is easily made wrong. No fault of a kernel is in here.
namespace {

__global__ void nothing() {}
__global__ void store(int* out) { *out = 1; }
__global__ void __launch_bounds__(128) bounded() {}
__global__ void dynamic(int* out) {
  extern __shared__ int words[];
  words[threadIdx.x] = 1;
  *out = words[0];
}
__global__ void shared_20000(int* out) {
  __shared__ int words[5000];
  words[threadIdx.x] = 1;
  __syncthreads();
  *out = words[0];
}
__constant__ int c_words[16];
__device__ int g_words[16];
void not_a_kernel() {}

const char* g_topic = "errors";

void show(const char* what, cudaError_t error) {
  const cudaError_t peeked = cudaPeekAtLastError();
  std::printf("%s %s -> %s peek %s\n", g_topic, what, cudaGetErrorName(error),
              cudaGetErrorName(peeked));
  cudaGetLastError();
}
#define SHOW(...) show(#__VA_ARGS__, __VA_ARGS__)
#define SHOW_LAUNCH(...)                       \
  do {                                         \
    __VA_ARGS__;                               \
    show(#__VA_ARGS__, cudaPeekAtLastError()); \
    cudaDeviceSynchronize();                   \
  } while (false)

void launches() {
  int* out = nullptr;
  cudaMalloc(&out, 4096);
  SHOW_LAUNCH(nothing<<<0, 1>>>());
  SHOW_LAUNCH(nothing<<<1, 0>>>());
  SHOW_LAUNCH(nothing<<<1, 1024>>>());
  SHOW_LAUNCH(nothing<<<1, 1025>>>());
  SHOW_LAUNCH(nothing<<<1, dim3(1, 1, 65)>>>());
  SHOW_LAUNCH(nothing<<<1, dim3(32, 33)>>>());
  SHOW_LAUNCH(nothing<<<dim3(1, 65535), 1>>>());
  SHOW_LAUNCH(nothing<<<dim3(1, 65536), 1>>>());
  SHOW_LAUNCH(nothing<<<dim3(1, 1, 65536), 1>>>());
  SHOW_LAUNCH(nothing<<<dim3(1, 0), 1>>>());
  SHOW_LAUNCH(nothing<<<2147483648U, 1>>>());
  SHOW_LAUNCH(bounded<<<1, 128>>>());
  SHOW_LAUNCH(bounded<<<1, 129>>>());
  SHOW_LAUNCH(dynamic<<<1, 1, 49152>>>(out));
  SHOW_LAUNCH(dynamic<<<1, 1, 49153>>>(out));
  SHOW_LAUNCH(shared_20000<<<1, 1, 29152>>>(out));
  SHOW_LAUNCH(shared_20000<<<1, 1, 29153>>>(out));
  SHOW_LAUNCH(nothing<<<1, 1, 100000>>>());
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  SHOW_LAUNCH(dynamic<<<1, 1, 100000>>>(out));
  SHOW_LAUNCH(dynamic<<<1, 1, 100001>>>(out));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
  SHOW(cudaFuncSetAttribute(shared_20000, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SHOW(cudaFuncSetAttribute(shared_20000, cudaFuncAttributeMaxDynamicSharedMemorySize, 212448));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  SHOW(cudaLaunchKernel(reinterpret_cast<const void*>(not_a_kernel), 1, 1, nullptr, 0, nullptr));
  SHOW(cudaLaunchKernel(static_cast<const void*>(nullptr), dim3(1), dim3(1), nullptr, 0, nullptr));
  SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(nothing), 100000, 1, nullptr, 0,
                                   nullptr));
  cudaFuncAttributes attributes;
  SHOW(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(not_a_kernel)));
  SHOW(cudaFuncGetAttributes(&attributes, static_cast<const void*>(nullptr)));
  int blocks = 0;
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1025, 0));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, -1, 0));
  cudaFree(out);
}

void copies() {
  char* d = nullptr;
  static char host[8192];
  cudaMalloc(&d, 4096);
  SHOW(cudaMemcpy(d, host, 4096, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, host, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(host, d, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, host, 64, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(host, d, 64, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(d, host, 64, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(d, d + 64, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, host + 100, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, host + 100, 64, cudaMemcpyDefault));
  SHOW(cudaMemcpy(d, host, 64, cudaMemcpyDefault));
  SHOW(cudaMemcpy(d, host, 64, static_cast<cudaMemcpyKind>(9)));
  SHOW(cudaMemcpy(nullptr, host, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(nullptr, host, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(d, nullptr, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, nullptr, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(d + (std::size_t{1} << 40), host, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(d, 64, host, 32, 48, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(d, 32, host, 64, 48, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(d, 64, host, 64, 0, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(d, 64, host, 64, 64, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyAsync(d, host, 64, cudaMemcpyHostToDevice, nullptr));
  SHOW(cudaMemset(d, 0, 4096));
  SHOW(cudaMemset(d, 0, 0));
  SHOW(cudaMemset(nullptr, 0, 4));
  SHOW(cudaMemset(nullptr, 0, 0));
  SHOW(cudaMemset(host, 0, 4));
  SHOW(cudaMemset2D(d, 32, 0, 64, 2));
  SHOW(cudaMemcpyToSymbol(c_words, host, 64));
  SHOW(cudaMemcpyToSymbol(c_words, host, 65));
  SHOW(cudaMemcpyToSymbol(c_words, host, 32, 40));
  SHOW(cudaMemcpyToSymbol(g_words, host, 64, 4));
  SHOW(cudaMemcpyFromSymbol(host, g_words, 65));
  SHOW(cudaMemcpyToSymbol(c_words, host, 0));
  SHOW(cudaMemcpyToSymbol(c_words, host, 64, 0, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpyToSymbol(reinterpret_cast<const void*>(host), host, 4));
  void* p = nullptr;
  std::size_t size = 0;
  SHOW(cudaGetSymbolAddress(&p, reinterpret_cast<const void*>(host)));
  SHOW(cudaGetSymbolSize(&size, reinterpret_cast<const void*>(host)));
  SHOW(cudaGetSymbolSize(&size, c_words));
  cudaFree(d);
}

/// Copies that end outside of every allocation: 1 GiB lies around no small one.
void copies_beyond() {
  char* d = nullptr;
  static char host[8 << 20];
  cudaMalloc(&d, 1000);
  SHOW(cudaMemcpy(d, host, 8 << 20, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, d, 8 << 20, cudaMemcpyDeviceToHost));
  SHOW(cudaMemset(d, 0, 8 << 20));
  SHOW(cudaMemset(d, 0, std::size_t{1} << 40));
  SHOW(cudaMemcpy(d, host, 1001, cudaMemcpyHostToDevice));
  SHOW(cudaMemset(d, 0, 1001));
  SHOW(cudaMemset(d + 999, 0, 2));
  SHOW(cudaDeviceSynchronize());
}

void frees() {
  char* d = nullptr;
  void* p = nullptr;
  int on_stack = 0;
  SHOW(cudaMalloc(&p, 0));
  std::printf("errors malloc_0 pointer -> %s\n", p == nullptr ? "null" : "not null");
  SHOW(cudaMalloc(&p, std::size_t{1} << 40));
  SHOW(cudaMalloc(&p, ~std::size_t{0}));
  SHOW(cudaMalloc(static_cast<void**>(nullptr), 4));
  SHOW(cudaMallocHost(&p, 0));
  SHOW(cudaMallocManaged(&p, 0));
  SHOW(cudaMallocManaged(&p, 64, 9));
  SHOW(cudaFree(nullptr));
  cudaMalloc(&d, 1024);
  SHOW(cudaFree(d + 4));
  SHOW(cudaFree(d + 256));
  SHOW(cudaFreeHost(d));
  SHOW(cudaFree(d));
  SHOW(cudaFree(d));
  SHOW(cudaFree(&on_stack));
  SHOW(cudaFree(reinterpret_cast<void*>(0x1234)));
  SHOW(cudaFreeHost(&on_stack));
  SHOW(cudaFreeHost(nullptr));
  cudaMallocHost(&p, 64);
  SHOW(cudaFree(p));
  SHOW(cudaFreeHost(p));
  SHOW(cudaFreeHost(p));
  cudaMallocAsync(&p, 64, nullptr);
  SHOW(cudaFreeAsync(p, nullptr));
  SHOW(cudaFreeAsync(p, nullptr));
  SHOW(cudaFreeAsync(nullptr, nullptr));
  cudaMallocAsync(&p, 64, nullptr);
  SHOW(cudaFree(p));
  cudaMalloc(&p, 64);
  SHOW(cudaFreeAsync(p, nullptr));
  SHOW(cudaMallocAsync(&p, 0, nullptr));
  SHOW(cudaMallocAsync(&p, std::size_t{1} << 40, nullptr));
  SHOW(cudaDeviceSynchronize());
  static char page[1 << 16];
  SHOW(cudaHostRegister(page, sizeof page, cudaHostRegisterDefault));
  SHOW(cudaHostRegister(page, sizeof page, cudaHostRegisterDefault));
  SHOW(cudaHostUnregister(page));
  SHOW(cudaHostUnregister(page));
  SHOW(cudaHostRegister(nullptr, 64, 0));
  SHOW(cudaHostRegister(page, 0, 0));
  SHOW(cudaHostAlloc(&p, 64, 99));
}

void pointers() {
  cudaPointerAttributes a;
  int on_stack = 0;
  const auto pointer = [&](const char* what, const void* p) {
    std::memset(&a, 0x55, sizeof a);
    const cudaError_t error = cudaPointerGetAttributes(&a, p);
    std::printf("errors pointer %s -> %s", what, cudaGetErrorName(error));
    if (error == cudaSuccess) {
      std::printf(" type %d device %d device_pointer %s host_pointer %s", a.type, a.device,
                  a.devicePointer == p         ? "same"
                  : a.devicePointer == nullptr ? "null"
                                               : "other",
                  a.hostPointer == p         ? "same"
                  : a.hostPointer == nullptr ? "null"
                                             : "other");
    }
    std::printf("\n");
    cudaGetLastError();
  };
  char *device = nullptr, *pinned = nullptr, *managed = nullptr, *pooled = nullptr,
       *mapped = nullptr;
  void* symbol = nullptr;
  cudaMalloc(&device, 1024);
  cudaMallocHost(&pinned, 1024);
  cudaHostAlloc(&mapped, 1024, cudaHostAllocMapped);
  cudaMallocManaged(&managed, 1024);
  cudaMallocAsync(&pooled, 1024, nullptr);
  cudaGetSymbolAddress(&symbol, g_words);
  pointer("device", device);
  pointer("inside_device", device + 100);
  pointer("pinned", pinned);
  pointer("mapped", mapped);
  pointer("managed", managed);
  pointer("pooled", pooled);
  pointer("symbol", symbol);
  pointer("stack", &on_stack);
  pointer("null", nullptr);
  static char page[1 << 16];
  cudaHostRegister(page, sizeof page, cudaHostRegisterDefault);
  pointer("registered", page);
  cudaHostUnregister(page);
  pointer("unregistered", page);
  cudaFree(device);
  pointer("freed_device", device);
  cudaFree(managed);
  pointer("freed_managed", managed);
}

void streams_and_events() {
  float ms = 0;
  cudaEvent_t a = nullptr, b = nullptr, untimed = nullptr;
  cudaStream_t s = nullptr;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  SHOW(cudaEventElapsedTime(&ms, a, b));
  SHOW(cudaEventQuery(a));
  SHOW(cudaEventSynchronize(a));
  cudaEventRecord(a);
  SHOW(cudaEventElapsedTime(&ms, a, b));
  cudaEventRecord(untimed);
  cudaDeviceSynchronize();
  SHOW(cudaEventElapsedTime(&ms, a, untimed));
  SHOW(cudaEventElapsedTime(&ms, a, a));
  SHOW(cudaEventElapsedTime(nullptr, a, a));
  SHOW(cudaEventRecord(nullptr));
  SHOW(cudaEventDestroy(nullptr));
  SHOW(cudaEventSynchronize(nullptr));
  SHOW(cudaEventCreateWithFlags(&b, 0x80));
  SHOW(cudaStreamDestroy(nullptr));
  SHOW(cudaStreamDestroy(cudaStreamLegacy));
  SHOW(cudaStreamQuery(nullptr));
  SHOW(cudaStreamSynchronize(nullptr));
  SHOW(cudaStreamCreate(nullptr));
  SHOW(cudaStreamCreateWithFlags(&s, 0x40));
  SHOW(cudaStreamCreateWithPriority(&s, 0, -100));
  SHOW(cudaStreamWaitEvent(nullptr, nullptr, 0));
  SHOW(cudaStreamWaitEvent(nullptr, a, 7));
  SHOW(cudaSetDevice(99));
  SHOW(cudaSetDevice(-1));
  SHOW(cudaDeviceSetLimit(cudaLimitStackSize, std::size_t{1} << 40));
  cudaDeviceProp properties;
  SHOW(cudaGetDeviceProperties(&properties, 5));
}

void last_error() {
  const auto name = [](const char* what, cudaError_t error) {
    std::printf("errors last_error %s -> %s\n", what, cudaGetErrorName(error));
  };
  nothing<<<1, 2000>>>();
  name("peek_after_wrong_launch", cudaPeekAtLastError());
  name("synchronise_after_wrong_launch", cudaDeviceSynchronize());
  name("peek_still", cudaPeekAtLastError());
  nothing<<<1, 1>>>();
  name("peek_after_right_launch", cudaPeekAtLastError());
  name("malloc_0_of_wrong", cudaFree(reinterpret_cast<void*>(0x10)));
  name("peek_is_the_last", cudaPeekAtLastError());
  name("get", cudaGetLastError());
  name("get_again", cudaGetLastError());
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  name("query", cudaStreamQuery(nullptr));
  name("get_after_query", cudaGetLastError());
  for (const int code : {0,   1,   2,   9,   35,  98,  100, 101, 400, 600,
                         700, 710, 716, 719, 801, 900, 901, 908, 999, 12345}) {
    const auto error = static_cast<cudaError_t>(code);
    std::printf("errors text %d -> %s: %s\n", code, cudaGetErrorName(error),
                cudaGetErrorString(error));
  }
}

template <class During>
void capture(const char* what, cudaStreamCaptureMode mode, During during) {
  cudaStream_t s = nullptr, other = nullptr;
  cudaGraph_t graph = nullptr;
  int* d = nullptr;
  cudaMalloc(&d, 64);
  cudaStreamCreate(&s);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  std::printf("errors capture %s begin -> %s\n", what,
              cudaGetErrorName(cudaStreamBeginCapture(s, mode)));
  const cudaError_t error = during(s, other, d);
  cudaGetLastError();
  std::printf("errors capture %s call -> %s\n", what, cudaGetErrorName(error));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(s, &status);
  std::printf("errors capture %s status -> %d\n", what, static_cast<int>(status));
  const cudaError_t ended = cudaStreamEndCapture(s, &graph);
  std::printf("errors capture %s end -> %s %s\n", what, cudaGetErrorName(ended),
              graph == nullptr ? "null" : "graph");
  std::printf("errors capture %s end_again -> %s\n", what,
              cudaGetErrorName(cudaStreamEndCapture(s, &graph)));
  if (ended == cudaSuccess && graph != nullptr) {
    std::size_t nodes = 0;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    std::printf("errors capture %s nodes -> %zu\n", what, nodes);
  }
  cudaGetLastError();
  cudaStreamDestroy(s);
  cudaStreamDestroy(other);
  cudaDeviceSynchronize();
  cudaFree(d);
  cudaGetLastError();
}

void captures() {
  using S = cudaStream_t;
  constexpr auto kGlobal = cudaStreamCaptureModeGlobal;
  constexpr auto kRelaxed = cudaStreamCaptureModeRelaxed;
  static cudaEvent_t event;
  cudaEventCreate(&event);
  capture("nothing", kGlobal, [](S, S, int*) { return cudaSuccess; });
  capture("kernel", kGlobal, [](S s, S, int* d) {
    store<<<1, 1, 0, s>>>(d);
    return cudaGetLastError();
  });
  capture("wrong_launch", kGlobal, [](S s, S, int*) {
    nothing<<<1, 2000, 0, s>>>();
    return cudaGetLastError();
  });
  capture("synchronise_stream", kGlobal, [](S s, S, int*) { return cudaStreamSynchronize(s); });
  capture("synchronise_device", kGlobal, [](S, S, int*) { return cudaDeviceSynchronize(); });
  capture("synchronise_device_relaxed", kRelaxed,
          [](S, S, int*) { return cudaDeviceSynchronize(); });
  capture("synchronise_other", kGlobal,
          [](S, S other, int*) { return cudaStreamSynchronize(other); });
  capture("query_stream", kGlobal, [](S s, S, int*) { return cudaStreamQuery(s); });
  capture("legacy_launch", kGlobal, [](S, S, int* d) {
    store<<<1, 1>>>(d);
    return cudaGetLastError();
  });
  capture("legacy_launch_relaxed", kRelaxed, [](S, S, int* d) {
    store<<<1, 1>>>(d);
    return cudaGetLastError();
  });
  capture("memcpy", kGlobal, [](S, S, int* d) {
    int x = 0;
    return cudaMemcpy(d, &x, 4, cudaMemcpyHostToDevice);
  });
  capture("memcpy_relaxed", kRelaxed, [](S, S, int* d) {
    int x = 0;
    return cudaMemcpy(d, &x, 4, cudaMemcpyHostToDevice);
  });
  capture("memset", kGlobal, [](S, S, int* d) { return cudaMemset(d, 0, 4); });
  capture("memset_async", kGlobal, [](S s, S, int* d) { return cudaMemsetAsync(d, 0, 4, s); });
  capture("malloc", kGlobal, [](S, S, int*) {
    int* p = nullptr;
    return cudaMalloc(&p, 4);
  });
  capture("malloc_relaxed", kRelaxed, [](S, S, int*) {
    int* p = nullptr;
    return cudaMalloc(&p, 4);
  });
  capture("free", kGlobal, [](S, S, int*) { return cudaFree(nullptr); });
  capture("malloc_async", kGlobal, [](S s, S, int*) {
    int* p = nullptr;
    return cudaMallocAsync(&p, 4, s);
  });
  capture("begin_again", kGlobal,
          [](S s, S, int*) { return cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); });
  capture("destroy", kGlobal, [](S, S other, int*) { return cudaStreamQuery(other); });
  capture("event_query", kGlobal, [](S s, S, int*) {
    cudaEventRecord(event, s);
    return cudaEventQuery(event);
  });
  cudaEventCreate(&event);
  capture("event_synchronise", kGlobal, [](S s, S, int*) {
    cudaEventRecord(event, s);
    return cudaEventSynchronize(event);
  });
  cudaEventCreate(&event);
  capture("unjoined", kGlobal, [](S s, S other, int* d) {
    cudaEventRecord(event, s);
    const cudaError_t error = cudaStreamWaitEvent(other, event, 0);
    store<<<1, 1, 0, other>>>(d);
    return error;
  });
  cudaEventCreate(&event);
  capture("joined", kGlobal, [](S s, S other, int* d) {
    cudaEventRecord(event, s);
    cudaStreamWaitEvent(other, event, 0);
    store<<<1, 1, 0, other>>>(d);
    cudaEventRecord(event, other);
    return cudaStreamWaitEvent(s, event, 0);
  });
  cudaEventCreate(&event);
  capture("event_of_before", kGlobal, [](S s, S other, int*) {
    cudaEventRecord(event, other);
    return cudaStreamWaitEvent(s, event, 0);
  });
  SHOW(cudaStreamBeginCapture(nullptr, kGlobal));
  SHOW(cudaStreamBeginCapture(cudaStreamLegacy, kGlobal));
  cudaStream_t s = nullptr;
  cudaGraph_t graph = nullptr;
  cudaStreamCreate(&s);
  SHOW(cudaStreamEndCapture(s, &graph));
}

void graphs() {
  cudaGraph_t graph = nullptr, other = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t a = nullptr, b = nullptr;
  int* d = nullptr;
  cudaMalloc(&d, 4096);
  SHOW(cudaGraphCreate(&graph, 0));
  SHOW(cudaGraphCreate(&graph, 3));
  SHOW(cudaGraphInstantiate(&exec, graph, 0));
  SHOW(cudaGraphLaunch(exec, nullptr));
  SHOW(cudaGraphLaunch(nullptr, nullptr));
  SHOW(cudaGraphInstantiate(&exec, nullptr, 0));
  SHOW(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
  SHOW(cudaGraphAddEmptyNode(&b, graph, &a, 1));
  SHOW(cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
  SHOW(cudaGraphInstantiate(&exec, graph, 0));
  SHOW(cudaGraphAddDependencies(graph, &a, &a, nullptr, 1));
  cudaKernelNodeParams params{};
  void* arguments[] = {&d};
  params.func = reinterpret_cast<void*>(store);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphCreate(&graph, 0);
  SHOW(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &params));
  SHOW(cudaGraphInstantiate(&exec, graph, 0));
  const auto update = [&](const char* what) {
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t error = cudaGraphExecUpdate(exec, other, &info);
    std::printf("errors update %s -> %s result %d\n", what, cudaGetErrorName(error),
                static_cast<int>(info.result));
    cudaGetLastError();
  };
  cudaGraphCreate(&other, 0);
  update("to_empty");
  cudaGraphAddKernelNode(&b, other, nullptr, 0, &params);
  update("to_same");
  params.func = reinterpret_cast<void*>(dynamic);
  cudaGraphCreate(&other, 0);
  cudaGraphAddKernelNode(&b, other, nullptr, 0, &params);
  update("to_other_function");
  cudaGraphCreate(&other, 0);
  cudaMemsetParams fill{};
  fill.dst = d;
  fill.elementSize = 4;
  fill.width = 16;
  fill.height = 1;
  SHOW(cudaGraphAddMemsetNode(&b, other, nullptr, 0, &fill));
  update("to_other_kind");
  fill.elementSize = 3;
  SHOW(cudaGraphAddMemsetNode(&b, other, nullptr, 0, &fill));
  params.blockDim = dim3(2000);
  SHOW(cudaGraphAddKernelNode(&b, other, nullptr, 0, &params));
  params.func = nullptr;
  SHOW(cudaGraphAddKernelNode(&b, other, nullptr, 0, &params));
  params.func = reinterpret_cast<void*>(store);
  params.blockDim = dim3(1);
  SHOW(cudaGraphExecKernelNodeSetParams(exec, a, &params));
  params.blockDim = dim3(2000);
  SHOW(cudaGraphExecKernelNodeSetParams(exec, a, &params));
  SHOW(cudaGraphExecDestroy(exec));
  SHOW(cudaGraphExecDestroy(nullptr));
  SHOW(cudaGraphDestroy(graph));
  SHOW(cudaGraphDestroy(nullptr));
}

/// What might end the program, the likeliest last.
void null_results() {
  int on_stack = 0;
  SHOW(cudaPointerGetAttributes(nullptr, &on_stack));
  SHOW(cudaGetDeviceProperties(nullptr, 0));
  SHOW(cudaLaunchHostFunc(nullptr, nullptr, nullptr));
}

void errors() {
  launches();
  copies();
  frees();
  pointers();
  streams_and_events();
  last_error();
}
void errors_captures() {
  g_topic = "errors_captures";
  captures();
}
void errors_graphs() {
  g_topic = "errors_graphs";
  graphs();
}
void errors_beyond() {
  g_topic = "errors_beyond";
  copies_beyond();
}
void errors_null() {
  g_topic = "errors_null";
  null_results();
}
TOPIC("errors", errors);
TOPIC("errors_null", errors_null);
TOPIC("errors_captures", errors_captures);
TOPIC("errors_graphs", errors_graphs);
TOPIC("errors_beyond", errors_beyond);

}  // namespace
