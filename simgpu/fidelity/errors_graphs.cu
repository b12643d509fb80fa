#include "errors.cuh"

/// The errors of calls between the beginning of a capture and its end, and of wrong graphs.
namespace {

__global__ void nothing() {}
__global__ void store(int* out) { *out = 1; }
__global__ void dynamic(int* out) {
  extern __shared__ int words[];
  words[threadIdx.x] = 1;
  *out = words[0];
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

void errors_captures() {
  fidelity::shown_topic() = "errors_captures";
  captures();
}
void errors_graphs() {
  fidelity::shown_topic() = "errors_graphs";
  graphs();
}
TOPIC("errors_captures", errors_captures);
TOPIC("errors_graphs", errors_graphs);

}  // namespace
